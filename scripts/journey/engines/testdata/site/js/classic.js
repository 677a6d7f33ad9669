window.classic = true;
