import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { count, deletedShape, exampleId, id } from './fields.ts'

/** Responses of `/v1/messages/…/content`: JSON, a single part, or the whole message. */

const content = z
  .strictObject({
    id: id('msg'),
    unsubscribe: z
      .boolean()
      .describe(
        'Postrider adds a `List-Unsubscribe` header for each recipient, as the message or its domain asks for.',
      ),
    subject: z.string(),
    html: z.string().nullable(),
    text: z.string().nullable(),
    headers: z.record(z.string(), z.string()),
    attachments: z.array(
      z.strictObject({
        filename: z.string(),
        content_type: z.string(),
        content_id: z.string().nullable(),
        size_bytes: count,
      }),
    ),
  })
  .meta({ id: 'MessageContent' })
const RAW_MAIL = 'From: Shop <shop@example.com>\r\nTo: ann@customer.example\r\nSubject: Your order\r\n\r\nThanks!\r\n'

export const contentResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Without `part`: the content as JSON.',
    schema: content,
    example: {
      id: exampleId('msg'),
      unsubscribe: false,
      subject: 'Your order',
      html: '<p>Thanks!</p>',
      text: 'Thanks!',
      headers: { 'X-Order': '1001' },
      attachments: [{ filename: 'a.pdf', content_type: 'application/pdf', content_id: null, size_bytes: 5120 }],
    },
  },
  { ...ofPart('text/html; charset=utf-8', '`part=html`'), example: '<p>Thanks!</p>' },
  { ...ofPart('text/plain; charset=utf-8', '`part=text`'), example: 'Thanks!' },
  { ...ofPart('message/rfc822', 'With `part=raw`: the signed message.'), example: RAW_MAIL },
]

/** Content type and description → 200 response with a text or bytes of that type, not JSON. */
export function ofPart(contentType: string, description: string): ResponseShape {
  return { status: 200, description, schema: z.string(), example: '', contentType }
}
export const attachmentResponse = ofPart('application/octet-stream', 'The bytes of the attachment, whatever its type.')
export const contentDeletedResponses = [
  deletedShape('msg', 'The content is deleted. The message and its events remain.'),
]
