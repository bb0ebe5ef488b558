import pkg from '../package.json' with { type: 'json' }

/** As in package.json, read at build time. */
export const VERSION: string = pkg.version
