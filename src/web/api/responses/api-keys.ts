import { z } from 'zod'
import { PERMISSIONS } from '../../../model/api-key.ts'
import type { ResponseShape } from '../operation.ts'
import {
  deletedShape,
  EXAMPLE_LATER,
  EXAMPLE_TIME,
  exampleId,
  id,
  mode,
  pageShape,
  time,
  timeOrNull,
} from './fields.ts'

/** Responses of `/v1/api-keys`; routes/api-keys.ts builds the record. */

const fields = {
  id: id('key'),
  name: z.string(),
  domain_id: id('dom'),
  domain: z.string().nullable().describe('Domain name; null if the domain was deleted.'),
  mode,
  permissions: z.array(z.enum(PERMISSIONS)),
  prefix: z.string().describe('The first 16 characters, to identify the key.'),
  created_at: time,
  last_used_at: timeOrNull,
  expires_at: timeOrNull,
  revoked_at: timeOrNull,
  rotated_to: id('key').nullable().describe('ID of the key that replaces this one.'),
  allowed_networks: z
    .array(z.string())
    .nullable()
    .describe('CIDR networks the key may be used from; requests from other addresses get 401. null = any address.'),
  created_by: id('usr')
    .nullable()
    .describe('ID of the user who created or rotated the key in the dashboard; null otherwise.'),
}
const key = z
  .string()
  .regex(/^svc_(?:live|test)_[0-9A-Za-z]{32,}$/)
  .describe('The key value. Shown only once.')
const apiKey = z.strictObject(fields).meta({ id: 'ApiKey' })
const created = z.strictObject({ ...fields, key }).meta({ id: 'CreatedApiKey' })
const rotated = z
  .strictObject({
    ...fields,
    key,
    previous: z.strictObject({ id: id('key'), expires_at: time }).describe('The old key and its expiry time.'),
  })
  .meta({ id: 'RotatedApiKey' })

const example = {
  id: exampleId('key'),
  name: 'shop',
  domain_id: exampleId('dom'),
  domain: 'example.com',
  mode: 'live',
  permissions: ['send'],
  prefix: 'svc_live_4bT0rXa',
  created_at: EXAMPLE_TIME,
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
  rotated_to: null,
  allowed_networks: ['203.0.113.0/24'],
  created_by: null,
}
const withValue = { ...example, key: 'svc_live_4bT0rXaExampleExampleExampleExample' }

export const apiKeyResponses: ResponseShape[] = [
  { status: 200, description: 'The key, without its value.', schema: apiKey, example },
]
export const apiKeyListResponses = [pageShape(apiKey, example, 'Keys without their values, newest first.')]
export const apiKeyCreatedResponses: ResponseShape[] = [
  { status: 201, description: 'The key, including its value.', schema: created, example: withValue },
]
export const apiKeyRotatedResponses: ResponseShape[] = [
  {
    status: 201,
    description: 'The new key, including its value.',
    schema: rotated,
    example: { ...withValue, previous: { id: exampleId('key'), expires_at: EXAMPLE_LATER } },
  },
]
export const apiKeyRevokedResponses = [deletedShape('key', 'The key is revoked. Its record remains.')]
