"""OpenClaw: the plugin that is put into it, the settings it needs, and the program that does both."""
