import { messageStoredBytes } from '../model/stored-bytes.ts'
import type { AcceptedMessage, Remember } from './store.ts'

/** What messages use of a plan's limits, besides the monthly volume and the bytes. */
export interface Needs {
  /** Recipients of test mail. */
  tests: number
  scheduled: number
}

export function needsOf(accepted: readonly AcceptedMessage[]): Needs {
  const needs: Needs = { tests: 0, scheduled: 0 }
  for (const { message, deliveries } of accepted) {
    if (message.mode === 'test') needs.tests += deliveries.length
    if (message.status === 'scheduled') needs.scheduled++
  }
  return needs
}

/** Bytes that messages and the stored answer count. */
export function bytesOf(accepted: readonly AcceptedMessage[], record: Remember | undefined): number {
  return accepted.reduce((sum, { message, deliveries }) => {
    const { sizeBytes, metadata, subject } = message
    return sum + messageStoredBytes(sizeBytes, deliveries.length, JSON.stringify(metadata), subject)
  }, record?.body.byteLength ?? 0)
}
