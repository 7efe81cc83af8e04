"""What a training would meet, looked at before it is paid for."""
