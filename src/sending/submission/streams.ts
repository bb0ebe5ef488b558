import { TRANSACTIONAL, unknownStream } from '../../model/message.ts'
import { invalid } from '../../model/refusal.ts'

export interface StreamConfig {
  unsubscribe: boolean
  /** Milliseconds from the end of the last delivery until the content is removed; null or absent: retention removes it. */
  redactContentAfter?: number | null
}

/** The configured message streams, and the pools that the operator assigned. */
export interface SendingConfig {
  streams: Readonly<Record<string, StreamConfig | undefined>>
  assignments: readonly { pool: string; organization: string | null; domain: string | null }[]
  /** Sending domains that relay rules name. */
  relayedDomains: readonly string[]
}

export const NO_SENDING_CONFIG: SendingConfig = {
  streams: { [TRANSACTIONAL]: { unsubscribe: false }, bulk: { unsubscribe: true } },
  assignments: [],
  relayedDomains: [],
}

/** Stream of a request → its settings. Refuses one that is not configured with `validation_error`. */
export function requireStream(stream: string, { streams }: Pick<SendingConfig, 'streams'>): StreamConfig {
  const known = Object.hasOwn(streams, stream) ? streams[stream] : undefined
  if (known !== undefined) return known
  throw invalid([{ field: 'stream', message: unknownStream(Object.keys(streams)) }])
}

/** Organization and sending domain → the pool that the operator assigned: the first that matches; '' if none does. */
export function assignedPool(
  { assignments }: Pick<SendingConfig, 'assignments'>,
  organizationId: string,
  domainName: string,
): string {
  const match = assignments.find(
    ({ organization, domain }) =>
      (organization === null || organization === organizationId) && (domain === null || domain === domainName),
  )
  return match?.pool ?? ''
}
