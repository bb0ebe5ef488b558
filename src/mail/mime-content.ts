import { BLOB_VERSIONS, packBlob, packBlobBeside, unpackBlob } from './blob.ts'

/** A finished mail as its author wrote it → one blob, in place of packContent's. Any bytes are valid. Never throws. */
export function packMime(mime: Uint8Array): Uint8Array<ArrayBuffer> {
  return packBlob(VERSION, mime)
}

/** Like packMime, off the thread. */
export function packMimeBeside(mime: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return packBlobBeside(VERSION, mime)
}

/** Whether packMime made the blob. False for packContent's and for an empty blob. */
export function isMime(blob: Uint8Array): boolean {
  return blob[0] === VERSION
}

/** Blob → the mail, byte for byte. Throws on a blob that is truncated, damaged or of another version. */
export function unpackMime(blob: Uint8Array): Uint8Array<ArrayBuffer> {
  return unpackBlob(VERSION, blob)
}

const VERSION = BLOB_VERSIONS.mime
