import type { Queries } from './transactions.ts'

const MERGE = `select gin_clean_pending_list('messages_by_word')`

/** Moves new words from the list where they wait to the tree of the index, outside of any group: 15 µs a message.
 *  Otherwise the accept that fills the list, or a vacuum, does it. */
export async function mergeSearchIndex({ query }: Queries): Promise<void> {
  await query(MERGE)
}
