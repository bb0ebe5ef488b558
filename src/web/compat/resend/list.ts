import { z } from 'zod'
import { invalid } from '../../../model/refusal.ts'
import type { Ours, Said, Wire } from '../external-api.ts'

/** Query of Resend's lists: 1 to 100, `after` or `before` the record with this ID. Newest first, as ours. */
export const listQuery = z
  .strictObject({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    after: z.string().optional(),
    before: z.string().optional(),
  })
  .refine(({ after, before }) => after === undefined || before === undefined, {
    path: ['before'],
    message: 'before cannot be combined with after',
  })

export type ListQuery = z.infer<typeof listQuery>

/** A page of our list in Resend's format. With several `filters` it contains records that match any of them. */
export async function list<T>(
  ours: Ours,
  operation: string,
  query: ListQuery,
  toExternal: (record: Wire) => T,
  filters: readonly Said[] = [{}],
) {
  const { records, hasMore } =
    query.before === undefined
      ? await pageAfter(ours, operation, filters, query.limit, query.after ?? null)
      : await pageBefore(ours, operation, filters, query.limit, query.before)
  return { object: 'list', has_more: hasMore, data: records.map(toExternal) }
}

interface Page {
  records: Wire[]
  hasMore: boolean
}

async function pageAfter(
  ours: Ours,
  operation: string,
  filters: readonly Said[],
  limit: number,
  after: string | null,
): Promise<Page> {
  const pages = await Promise.all(
    filters.map((said) =>
      ours.ask(operation, { ...said, page: { limit, after } }, ({ data, has_more }): Page => {
        return { records: data, hasMore: has_more }
      }),
    ),
  )
  const [only, ...others] = pages
  if (only !== undefined && others.length === 0) return only
  const records = pages.flatMap((page) => page.records).sort(newestFirst)
  return { records: records.slice(0, limit), hasMore: records.length > limit || pages.some(({ hasMore }) => hasMore) }
}

/** IDs start with their time, and our lists are sorted by ID. */
const newestFirst = (one: Wire, other: Wire) => (one.id < other.id ? 1 : -1)

/** Our lists run in one direction, so the records before an ID are found from the start of the list, which is close
 *  for a previous page. Beyond a thousand records the request is rejected. */
async function pageBefore(
  ours: Ours,
  operation: string,
  filters: readonly Said[],
  limit: number,
  before: string,
): Promise<Page> {
  const newer: Wire[] = []
  for (let after: string | null = null, turn = 0; turn < MOST_TURNS; turn++) {
    const page: Page = await pageAfter(ours, operation, filters, MOST_A_TURN, after)
    const at = page.records.findIndex(({ id }) => id === before)
    newer.push(...page.records.slice(0, at < 0 ? undefined : at))
    if (at >= 0) return { records: newer.slice(-limit), hasMore: newer.length > limit }
    if (!page.hasMore) break
    after = page.records.at(-1).id
  }
  const message = `before is not among the newest ${MOST_TURNS * MOST_A_TURN} records of this list. Page with after instead.`
  throw invalid([{ field: 'before', message }])
}

const MOST_TURNS = 10
const MOST_A_TURN = 100
