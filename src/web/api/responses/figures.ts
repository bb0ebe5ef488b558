import { z } from 'zod'
import { QUALITY_METRICS } from '../../../model/quality.ts'
import { tableOf } from '../../../os/records.ts'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, exampleId, id, pageShape, time, timeOrNull } from './fields.ts'

/** Responses of `/v1/stats` and `/v1/quality`; routes/stats.ts and quality.ts build them. */

const share = z.number().min(0).describe('0 to 1; 0 if there is nothing to count.')
const COUNTED = [
  'accepted',
  'delivered',
  'deferred',
  'bounced',
  'hard_bounced',
  'soft_bounced',
  'opened',
  'unique_opened',
  'clicked',
  'unique_clicked',
  'unsubscribed',
  'complained',
  'suppressed',
  'replied',
] as const
const RATES = ['delivery_rate', 'bounce_rate', 'complaint_rate', 'open_rate', 'click_rate'] as const

const each = <Name extends string, T>(names: readonly Name[], value: T) => tableOf(names, () => value)

const counts = each(COUNTED, count)
const countsExample = { ...each(COUNTED, 0), accepted: 100, delivered: 98, bounced: 2, hard_bounced: 2 }
const ratesExample = { ...each(RATES, 0), delivery_rate: 0.98, bounce_rate: 0.02 }

const rates = each(RATES, share)
const sums = z.strictObject({ ...counts, ...rates })

export const statsResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Every period, including those with zero counts, and the totals.',
    schema: z
      .strictObject({
        data: z.array(z.strictObject({ period_start: time, ...counts })),
        totals: sums,
        groups: z
          .array(
            z.strictObject({
              key: z.string().describe('ID of the domain or template, tag, stream, or provider.'),
              name: z.string().nullable().describe('Null for a domain that was removed.'),
              ...counts,
              ...rates,
            }),
          )
          .optional()
          .describe(
            'Only with `group_by`: at most 100 groups, those with most accepted recipients first. Mail with several tags counts in each.',
          ),
        other: sums
          .nullable()
          .optional()
          .describe(
            'Only with `group_by`: sum of the groups beyond 100, and of recipients without a provider; null without any.',
          ),
      })
      .meta({ id: 'Stats' }),
    example: {
      data: [{ period_start: '2026-11-21T00:00:00.000Z', ...countsExample }],
      totals: { ...countsExample, ...ratesExample },
    },
  },
]

const alert = z
  .strictObject({
    alert_id: id('alr'),
    metric: z.enum(QUALITY_METRICS),
    value: z.number(),
    threshold: z.number(),
    window_hours: z.number(),
    sent: count,
    affected: count,
    state: z.enum(['firing', 'resolved']),
    triggered_at: time,
    resolved_at: timeOrNull,
  })
  .meta({ id: 'QualityAlert' })
const quality = z
  .strictObject({
    domain_id: id('dom'),
    domain: z.string(),
    sent: count.describe('Recipients whose outcome became final within the window.'),
    hard_bounced: count,
    delivered: count,
    complained: count,
    bounce_rate: share,
    complaint_rate: share,
    thresholds: z.strictObject({ bounce_rate: z.number(), complaint_rate: z.number(), min_sent: count }),
    window_hours: z.number(),
    sending_stopped: z.boolean(),
    alerts: z.array(alert).describe('Active alerts first, then those resolved in the last 30 days.'),
  })
  .meta({ id: 'Quality' })

export const qualityResponses = [
  pageShape(
    quality,
    {
      domain_id: exampleId('dom'),
      domain: 'example.com',
      sent: 1000,
      hard_bounced: 80,
      delivered: 920,
      complained: 0,
      bounce_rate: 0.08,
      complaint_rate: 0,
      thresholds: { bounce_rate: 0.05, complaint_rate: 0.001, min_sent: 100 },
      window_hours: 24,
      sending_stopped: false,
      alerts: [
        {
          alert_id: exampleId('alr'),
          metric: 'bounce_rate',
          value: 0.08,
          threshold: 0.05,
          window_hours: 24,
          sent: 1000,
          affected: 80,
          state: 'firing',
          triggered_at: EXAMPLE_TIME,
          resolved_at: null,
        },
      ],
    },
    'One entry per domain.',
  ),
]
