/** The source of host.mjs. */
declare const source: string
export default source
