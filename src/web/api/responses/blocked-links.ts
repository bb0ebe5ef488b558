import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { deletedShape, EXAMPLE_TIME, exampleId, id, pageShape, time } from './fields.ts'

/** Responses of `/v1/blocked-links`; routes/blocked-links.ts builds the record. */

const blockedLink = z
  .strictObject({
    id: id('blk'),
    kind: z
      .enum(['host', 'url'])
      .describe('`host` covers the host and all its subdomains; `url` covers every URL that starts with it.'),
    target: z.string().describe('Lower case, without the scheme.'),
    reason: z.string(),
    created_at: time,
  })
  .meta({ id: 'BlockedLink' })
const example = {
  id: exampleId('blk'),
  kind: 'host',
  target: 'phishing.example',
  reason: 'reported by a recipient',
  created_at: EXAMPLE_TIME,
}
const created: ResponseShape[] = [{ status: 201, description: 'The blocked target.', schema: blockedLink, example }]

export const blockedLinkResponses = {
  list: [pageShape(blockedLink, example, 'Blocked targets, newest first.')],
  created,
  deleted: [deletedShape('blk', 'Unblocked. Clicks are redirected again.')],
}
