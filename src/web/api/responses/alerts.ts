import { z } from 'zod'
import { ALERT_KINDS, ALERT_SEVERITIES } from '../../../model/alert.ts'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, exampleId, id, time, timeOrNull } from './fields.ts'

/** Responses of `/v1/alerts`; routes/alerts.ts builds them. */

const severity = z.enum(ALERT_SEVERITIES)
const channelType = z.enum(['mail', 'webhook', 'slack', 'discord', 'teams'])

const alert = z
  .strictObject({
    id: id('alr'),
    kind: z.enum(Object.keys(ALERT_KINDS) as [keyof typeof ALERT_KINDS]),
    subject: z.string().nullable().describe('What has the problem: a check, a domain, an address, an organization.'),
    node: z.string().nullable().describe('The node that sees it; null: the whole installation.'),
    severity,
    state: z.enum(['firing', 'resolved']),
    title: z.string(),
    message: z.string().describe('The last finding.'),
    advice: z.string().describe('What to do.'),
    raised_at: timeOrNull,
    last_seen_at: time,
    resolved_at: timeOrNull,
    silenced_until: timeOrNull.describe('Channels get no notices until then; null: not silenced.'),
  })
  .meta({ id: 'Alert' })

const channel = z
  .strictObject({
    name: z.string(),
    type: channelType,
    min_severity: severity,
    last_delivered_at: timeOrNull,
    failing_since: timeOrNull.describe('First failure since the last delivery; null if the last attempt succeeded.'),
    failures: count.describe('Failed attempts since then.'),
    last_error: z.string().nullable(),
  })
  .meta({ id: 'AlertChannel' })

const EXAMPLE = {
  id: exampleId('alr'),
  kind: 'disk',
  subject: null,
  node: null,
  severity: 'critical',
  state: 'firing',
  title: 'Disk space is low',
  message: '150 MB free; new mail is rejected below 200 MB',
  advice: 'Free space under /var/lib/postrider, or reduce retention_days of the plans.',
  raised_at: EXAMPLE_TIME,
  last_seen_at: EXAMPLE_TIME,
  resolved_at: null,
  silenced_until: null,
}

export const alertResponses: ResponseShape[] = [
  { status: 200, description: 'The alert.', schema: alert, example: { ...EXAMPLE, silenced_until: EXAMPLE_TIME } },
]

export const alertListResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Firing alerts, then the last ones that ended; and all channels.',
    schema: z.strictObject({ data: z.array(alert), channels: z.array(channel) }).meta({ id: 'Alerts' }),
    example: {
      data: [EXAMPLE],
      channels: [
        {
          name: 'on-call',
          type: 'slack',
          min_severity: 'warning',
          last_delivered_at: EXAMPLE_TIME,
          failing_since: null,
          failures: 0,
          last_error: null,
        },
      ],
    },
  },
]

export const alertTestResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The result of each channel.',
    schema: z.strictObject({
      data: z.array(
        z.strictObject({
          channel: z.string(),
          type: channelType,
          delivered: z.boolean(),
          error: z.string().nullable(),
          duration_ms: count,
        }),
      ),
    }),
    example: {
      data: [{ channel: 'on-call', type: 'slack', delivered: false, error: 'HTTP 404', duration_ms: 120 }],
    },
  },
]
