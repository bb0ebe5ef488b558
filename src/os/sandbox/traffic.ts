import { FrameFault } from './frames.ts'

/** Limits what a child may send over time. The main thread parses its JSON in 10 ms per MiB: without a limit,
 *  unneeded messages of 3 MiB would occupy it permanently. */
export const TRAFFIC_LIMITS = {
  /** Parsed header of a mail: some KiB, at most some hundred. */
  jsonBytesAJob: 524_288,
  jsonBytesASecond: 2_097_152,
  jsonBytesSaved: 16_777_216,
  /** Including byte arrays. */
  bytesASecond: 209_715_200,
  bytesSaved: 1_073_741_824,
  /** Limit for stderr. */
  stderrBytes: 1_048_576,
}

/** The quota of one child. */
export interface Traffic {
  /** A job was sent to the child: raises the quota by the size of one answer. */
  job(): void
  /** The child begins a message. Throws FrameFault if it has sent too much. */
  frame(totalBytes: number, jsonBytes: number): void
}

/** `nowMs`: time of a monotonic clock. */
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
      if (json < 0 || bytes < 0) throw new FrameFault('the process sends more than its jobs need')
    },
  }
}
