import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { deletedShape, EXAMPLE_TIME, exampleId, id, pageShape, time, timeOrNull } from './fields.ts'

/** Responses of `/v1/domains`; routes/domains.ts builds the record. */

const domain = z
  .strictObject({
    id: id('dom'),
    name: z.string().describe('Lower case; internationalized names as A-labels (`xn--`).'),
    status: z.enum(['pending', 'verified', 'failed']),
    detail: z
      .string()
      .nullable()
      .describe('Explains the status, for example a missing ownership record or a claim by another organization.'),
    sends_live: z
      .boolean()
      .describe('Whether the server sends live mail from the domain now. Test mail needs no DNS records.'),
    proved_by: z
      .enum(['dkim', 'txt'])
      .nullable()
      .describe(
        'The DNS record that proves ownership. With `txt` the domain receives mail but does not send live mail.',
      ),
    proof_missing_since: timeOrNull.describe(
      'When a check first found no proof of ownership for the verified domain in DNS. After seven days the domain fails.',
    ),
    created_at: time,
    verified_at: timeOrNull,
    last_checked_at: timeOrNull,
    next_check_at: timeOrNull.describe('When the server checks the DNS records again. Null: only on request.'),
    dkim: z.array(
      z.strictObject({
        selector: z.string(),
        algorithm: z.enum(['rsa-sha256', 'ed25519-sha256']),
        state: z.enum(['pending', 'active', 'retiring']),
        created_at: time,
      }),
    ),
    next_dkim_rotation_at: timeOrNull.describe(
      'When the server makes new DKIM keys by itself. Null while new keys wait for DNS, and for domains whose keys it does not publish. It publishes keys behind CNAME records to its zone, and at its DNS provider.',
    ),
    return_path_host: z.string(),
    tracking: z.strictObject({
      opens: z.boolean(),
      clicks: z.boolean(),
      unsubscribe: z.boolean(),
      host: z.string().nullable().describe('Host for tracked links, under the domain; null = the server’s own host.'),
    }),
    dns_records: z
      .array(
        z.strictObject({
          purpose: z.enum([
            'dkim',
            'dkim_standby',
            'ownership',
            'spf',
            'dmarc',
            'return_path',
            'mx',
            'tls_rpt',
            'tracking',
            'mta_sts',
            'mta_sts_host',
          ]),
          type: z.enum(['TXT', 'MX', 'CNAME']),
          name: z.string(),
          value: z.string(),
          priority: z.int().nullable(),
          required: z.boolean(),
          status: z.enum(['pending', 'valid', 'missing', 'mismatch']),
          found: z.array(z.string()).describe('Value found at the last DNS check.'),
        }),
      )
      .describe('DNS records to publish.'),
  })
  .meta({ id: 'Domain' })
const example = {
  id: exampleId('dom'),
  name: 'example.com',
  status: 'pending',
  detail: null,
  sends_live: false,
  proved_by: null,
  proof_missing_since: null,
  created_at: EXAMPLE_TIME,
  verified_at: null,
  last_checked_at: null,
  next_check_at: null,
  dkim: [{ selector: 'pr2611pwt83re', algorithm: 'ed25519-sha256', state: 'active', created_at: EXAMPLE_TIME }],
  next_dkim_rotation_at: null,
  return_path_host: 'bounces.example.com',
  tracking: { opens: false, clicks: false, unsubscribe: false, host: null },
  dns_records: [
    {
      purpose: 'dkim',
      type: 'TXT',
      name: 'pr2611pwt83re._domainkey.example.com',
      value: 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
      priority: null,
      required: true,
      status: 'pending',
      found: [],
    },
  ],
}

export const domainResponses: ResponseShape[] = [
  { status: 200, description: 'The domain with its DNS records.', schema: domain, example },
]
export const domainCreatedResponses: ResponseShape[] = [
  { status: 201, description: 'The domain with the DNS records to publish.', schema: domain, example },
]
export const domainListResponses = [pageShape(domain, example, 'Domains, newest first.')]
export const domainDeletedResponses = [deletedShape('dom', 'The domain is deleted and its API keys are revoked.')]

const dnsHost = z
  .strictObject({
    name: z.string().nullable(),
    console_url: z.string().nullable().describe('The page of the provider where records are edited.'),
    advice: z.string().nullable().describe('What its forms expect.'),
  })
  .meta({ id: 'DnsHost' })
export const dnsHostResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The DNS provider.',
    schema: dnsHost,
    example: {
      name: 'GoDaddy',
      console_url: 'https://dcc.godaddy.com/control/portfolio',
      advice: 'the form appends the domain automatically: enter names without it.',
    },
  },
]
