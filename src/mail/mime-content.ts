import { packBlob, unpackBlob } from './blob.ts'

/** A finished mail, as its author wrote it → one blob that stands where packContent's stands. Any bytes are a mail here.
 *  Never throws. */
export function packMime(mime: Uint8Array): Uint8Array<ArrayBuffer> {
  return packBlob(VERSION, mime)
}

/** Is this blob packMime's? False for packContent's, and for nothing at all. */
export function isMime(blob: Uint8Array): boolean {
  return blob[0] === VERSION
}

/** Blob → the mail, byte for byte. Throws on a blob that is cut, damaged or of another version. */
export function unpackMime(blob: Uint8Array): Uint8Array<ArrayBuffer> {
  return unpackBlob(VERSION, blob)
}

/** content.ts has 1. */
const VERSION = 2
