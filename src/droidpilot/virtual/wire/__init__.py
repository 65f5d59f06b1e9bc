"""What adb sees of the phone: transports, streams and the services behind them."""
