"""OpenClaw: the plugin, the settings it needs, and the program that installs both."""
