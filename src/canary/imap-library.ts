/** scripts/build.ts replaces this module: the library is in the executable as one compressed file. */
export { ImapFlow } from 'imapflow'
