/** This package's version, as it introduces itself to servers and users. A test holds it against package.json. */
export const VERSION = '0.1.0';
