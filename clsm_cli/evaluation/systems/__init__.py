"""What is compared: clsm, the published systems, and what a user has without any of them."""
