import { BLOB_VERSIONS, packBlob, packBlobBeside, unpackBlob } from './blob.ts'

/** A finished mail, as its author wrote it → one blob that stands where packContent's stands. Any bytes are a mail here.
 *  Never throws. */
export function packMime(mime: Uint8Array): Uint8Array<ArrayBuffer> {
  return packBlob(VERSION, mime)
}

/** As packMime, beside the thread. */
export function packMimeBeside(mime: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return packBlobBeside(VERSION, mime)
}

/** Is this blob packMime's? False for packContent's, and for nothing at all. */
export function isMime(blob: Uint8Array): boolean {
  return blob[0] === VERSION
}

/** Blob → the mail, byte for byte. Throws on a blob that is cut, damaged or of another version. */
export function unpackMime(blob: Uint8Array): Uint8Array<ArrayBuffer> {
  return unpackBlob(VERSION, blob)
}

const VERSION = BLOB_VERSIONS.mime
