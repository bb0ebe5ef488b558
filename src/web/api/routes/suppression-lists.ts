import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import { limitRefusal } from '../../../model/limits.ts'
import { SUPPRESSION_REASONS, type SuppressionReason } from '../../../model/suppression.ts'
import type { Random } from '../../../os/random.ts'
import { isRecord } from '../../../os/records.ts'
import { requireStream, type SendingConfig } from '../../../sending/submission/streams.ts'
import { importReadings } from '../../../sending/suppressions/import.ts'
import { ownHeader, ownLine } from '../../../sending/suppressions/own-list.ts'
import { LIST_KINDS, PROVIDER_NAMES } from '../../../sending/suppressions/providers.ts'
import type { Reading, ReadList } from '../../../sending/suppressions/read-list.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Operation, operation } from '../operation.ts'
import { characters, streamName } from '../schema.ts'
import { modeOfRecords, type Scope, scopeOf, withoutOnlyDomain } from '../scope.ts'

const MOST_ENTRIES = 5_000
const MOST_CHARACTERS = 2_000_000
const MOST_ERRORS = 100

const exportQuery = z.strictObject({
  reason: z.enum(SUPPRESSION_REASONS).optional(),
  stream: streamName.optional().describe('Only suppressions of this stream, without those of every stream.'),
})
/** Not z.looseObject, which copies each: 500,000 keys took 0.1 s. */
const ENTRY = z
  .unknown()
  .refine(isRecord, 'must be an object')
  .meta({ type: 'object', properties: {}, additionalProperties: {} })
const importBody = z
  .strictObject({
    csv: characters(MOST_CHARACTERS).optional().describe('CSV text with a header row.'),
    suppressions: z
      .array(ENTRY)
      .max(MOST_ENTRIES)
      .optional()
      .describe('Objects with the CSV’s fields, or as exported from another service.'),
    from: z
      .enum(PROVIDER_NAMES)
      .optional()
      .describe('The service that exported the list. Absent: detected from the columns.'),
    reason: z.enum(LIST_KINDS).optional().describe('The reason for all entries, for exports that do not include it.'),
    stream: streamName
      .optional()
      .describe('The stream of all entries that name none, except hard bounces. Absent: these apply to every stream.'),
    dry_run: z.boolean().default(false).describe('Count only; import nothing.'),
  })
  .refine(({ csv, suppressions }) => (csv === undefined) !== (suppressions === undefined), {
    path: ['csv'],
    message: 'Provide either csv or suppressions.',
  })

/** The operations that export suppressions as CSV and import lists of Postrider or other services. */
export function suppressionListOperations(deps: {
  store: Pick<Store, 'suppressions' | 'domains'>
  random: Random
  readList: ReadList
  config: { sending: Pick<SendingConfig, 'streams'> }
}): Operation[] {
  const { store, random, readList, config } = deps
  return [
    operation({
      id: 'suppressions_export',
      method: 'GET',
      path: '/v1/suppressions/export',
      tag: 'Suppressions',
      access: rule('read', 'viewer', 'test_records', 'own_or_shared'),
      summary: 'Export suppressions as CSV',
      description:
        "UTF-8 according to RFC 4180, newest first. Fields that start with `=`, `+`, `-`, `@`, a tab or `'` are prefixed with `'`, so that spreadsheets do not run them as formulas. Imports remove the prefix.",
      responses: async () => (await import('../responses/suppressions.ts')).suppressionExportResponses,
      query: exportQuery,
      handle: async ({ key, now, query }) => ({
        status: 200,
        body: csvOf(store, scopeOf(key), { reason: query.reason ?? null, stream: query.stream ?? null }),
        contentType: 'text/csv; charset=utf-8',
        headers: {
          'content-disposition': `attachment; filename="suppressions-${iso(now).slice(0, 10)}.csv"`,
        },
      }),
    }),
    operation({
      id: 'suppressions_import',
      method: 'POST',
      path: '/v1/suppressions/import',
      tag: 'Suppressions',
      access: rule('manage', 'support', 'test_records', 'own_or_shared'),
      summary: 'Import suppressions',
      description: IMPORT_TEXT,
      responses: async () => (await import('../responses/suppressions.ts')).suppressionImportResponses,
      example: { csv: 'email,reason,created_at\nplease-stop@customer.example,unsubscribe,2026-03-01T09:30:00Z\n' },
      refusals: ['invalid_state', 'quota_exceeded'],
      body: importBody,
      textField: { contentType: 'text/csv', field: 'csv' },
      async handle({ key, organizationId, now, body }) {
        const { csv, suppressions, from = null, reason = null, stream = null, dry_run: isDryRun } = body
        if (stream !== null) requireStream(stream, config.sending)
        const text = csv ?? JSON.stringify(suppressions)
        const format = { provider: from, kind: reason, stream }
        const { readings, leftOut } = await readList(text, format, MOST_ERRORS, organizationId)
        const errors: { number: number; message: string }[] = []
        let unlisted = leftOut.bad + leftOut.passedOver
        const onLine = (number: number, message: string) => {
          if (errors.length < MOST_ERRORS) errors.push({ number, message })
          else unlisted++
        }
        const { domainId } = await withoutOnlyDomain(scopeOf(key), store)
        const mode = modeOfRecords(key)
        const streams = Object.keys(config.sending.streams)
        const means = { organizationId, mode, domainId, streams, store, random, now, isDryRun, onLine }
        const result = await importReadings(inPieces(readings), means)
        const { added, alreadyThere, passedOver, bad, limit } = result
        if (limit !== null) throw limitRefusal(limit, now, { added })
        const counts = {
          added,
          already_there: alreadyThere,
          passed_over: passedOver + leftOut.passedOver,
          bad: bad + leftOut.bad,
        }
        return { status: 200, body: { ...counts, dry_run: isDryRun, errors, errors_left_out: unlisted } }
      },
    }),
  ]
}

const IMPORT_TEXT = `Accepts Postrider’s own CSV, or an export from Resend, Postmark, SendGrid, Mailgun, SES or Postal. Of our columns (\`email\`, \`reason\`, \`domain_id\`, \`created_at\`, \`evidence\`, \`stream\`) only \`email\` is required. Separators: comma, semicolon or tab. The body can be the CSV itself, with \`Content-Type: text/csv\`. Existing suppressions stay unchanged, so importing twice is safe. Unreadable lines are skipped. \`errors\` lists the first ${MOST_ERRORS} by line number or by position in the array. Numbers start at one. If the plan’s suppression limit is reached, the import stops with 422 \`quota_exceeded\`; \`details.added\` counts the addresses added before that, which remain. Temporary failures are skipped and suppress nothing. At most ${MOST_CHARACTERS} characters or ${MOST_ENTRIES} objects; \`postrider import suppressions\` has no limit.`

/** Splits a list into pieces for one write each. Waits for a turn of the event loop after each piece, so that other
 *  requests continue. */
async function* inPieces(readings: readonly Reading[]) {
  for (let at = 0; at < readings.length; at += PIECE) {
    yield readings.slice(at, at + PIECE)
    await new Promise(setImmediate)
  }
}

/** Entries per write transaction. */
const PIECE = 500

/** Scope, reason and stream → CSV of the matching suppressions as a ReadableStream, newest first. Reads the store page by
 *  page, as fast as the client reads the stream. */
function csvOf(
  store: Pick<Store, 'suppressions'>,
  scope: Scope,
  only: { reason: SuppressionReason | null; stream: string | null },
) {
  const filter = { ...scope, ...only, email: null, createdAfter: null, createdBefore: null }
  const encoder = new TextEncoder()
  let after: string | null = null
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(ownHeader())),
    async pull(controller) {
      // A page without records has none to wake the stream with, so the next one is read at once.
      for (let isRead = false; !isRead; ) {
        const { records, hasMore, next } = await store.suppressions.list(filter, { limit: PAGE, after })
        if (records.length > 0) controller.enqueue(encoder.encode(records.map(ownLine).join('')))
        after = next ?? records.at(-1)?.id ?? after
        if (!hasMore) controller.close()
        isRead = records.length > 0 || !hasMore
      }
    },
  })
}

const PAGE = 500
