import { FrameFault } from './frames.ts'

/** What a child may send over time. Its JSON is read on the main thread, 10 ms for each MiB: without a limit, messages of
 *  3 MiB that nobody needs hold it for as long as they come. */
export const TRAFFIC_LIMITS = {
  /** The header of a mail and what is said of it: some KiB, at most some hundred. */
  jsonBytesAJob: 524_288,
  jsonBytesASecond: 2_097_152,
  jsonBytesSaved: 16_777_216,
  /** With the byte arrays. */
  bytesASecond: 209_715_200,
  bytesSaved: 1_073_741_824,
  /** Of stderr. */
  stderrBytes: 1_048_576,
}

/** The allowance of one child. */
export interface Traffic {
  /** A job went to the child: its answer may be so much longer. */
  job(): void
  /** The child begins a message. Throws FrameFault when it has sent too much. */
  frame(totalBytes: number, jsonBytes: number): void
}

/** `nowMs`: a steady clock. */
export function createTraffic(nowMs: () => number, limits = TRAFFIC_LIMITS): Traffic {
  let json = limits.jsonBytesSaved
  let bytes = limits.bytesSaved
  let countedAt = nowMs()
  return {
    job: () => {
      json = Math.min(limits.jsonBytesSaved, json + limits.jsonBytesAJob)
    },
    frame: (totalBytes, jsonBytes) => {
      const now = nowMs()
      const seconds = Math.max(0, now - countedAt) / 1000
      countedAt = now
      json = Math.min(limits.jsonBytesSaved, json + seconds * limits.jsonBytesASecond) - jsonBytes
      bytes = Math.min(limits.bytesSaved, bytes + seconds * limits.bytesASecond) - totalBytes
      if (json < 0 || bytes < 0) throw new FrameFault('it sends more than its jobs need')
    },
  }
}
