import { firstId } from '../../os/ids.ts'
import { insertInto, writeEach } from '../mail/each.ts'
import type { NewText, SearchTextsInside } from '../mail/inside.ts'
import { ofOrganization } from '../mail/of-organization.ts'
import { createSenderAddress } from '../message-rows.ts'
import { foldedSubject } from '../search-text.ts'
import { marksOf } from '../search-tokens.ts'
import { inPostgres, row, run, sql } from '../sql.ts'
import { digitsOf, type SearchRange, SearchRanges, type UsedRange } from './search-ranges.ts'
import { searchVector } from './search-words.ts'

interface WordsRow {
  number: number
  words: string
  subject: string | null
}

const ADD_WORDS = insertInto<WordsRow>('message_words', {
  message_number: ['bigint', ({ number }) => number],
  words: ['tsvector', ({ words }) => words],
  folded_subject: ['text', ({ subject }) => subject],
})
const ADD_RANGES = insertInto<SearchRange>(
  'search_ranges',
  {
    organization_id: ['text', ({ organizationId }) => organizationId],
    prefix: ['text', ({ prefix }) => prefix],
  },
  'on conflict do nothing',
)

const OLDEST = ofOrganization<{ number: number }>('messages', 'number::float8 as number')
/** Of all organizations. No transaction is under way that writes lower numbers. */
const SINCE = sql<{ number: number }>(
  'select number::float8 as number from messages where id >= $1 order by id limit 1',
)
// A shorter prefix that begins the oldest number may have its message.
const REMOVE_RANGES = inPostgres(
  `delete from search_ranges where organization_id = $1 and prefix < $2 and prefix < left($2, length(prefix))`,
)

/** The full text of PostgreSQL, which is written with the messages. */
export function createMessageWords(): SearchTextsInside {
  const ranges = new SearchRanges()
  const senderAddressOf = createSenderAddress()
  return {
    add: function* (texts, afterCommit) {
      const fresh = new Set<UsedRange>()
      const rows = texts.map(({ number, message, emails }: NewText): WordsRow => {
        const { organizationId, subject, from, metadata } = message
        const range = ranges.rangeFor(organizationId, number)
        if (!range.isWritten) fresh.add(range)
        const tokens = marksOf({ ...message, senderAddress: senderAddressOf(from), metadata: JSON.stringify(metadata) })
        const words = searchVector(range.code, { subject, sender: from, emails }, tokens)
        return { number, words, subject: foldedSubject(subject) }
      })
      yield* writeEach(ADD_WORDS, rows)
      if (fresh.size === 0) return
      // In this order, so that two groups do not wait for each other.
      yield* writeEach(ADD_RANGES, [...fresh].sort(byKey))
      afterCommit(() => {
        for (const range of fresh) range.isWritten = true
      })
    },
    removed: function* (organizationId, before) {
      const since = yield* row(SINCE, firstId('msg', before))
      if (since === null) return
      const oldest = yield* row(OLDEST, organizationId, 0, 1)
      yield* run(REMOVE_RANGES, organizationId, digitsOf(Math.min(since.number, oldest?.number ?? since.number)))
    },
  }
}

const keyOf = ({ organizationId, prefix }: SearchRange) => `${organizationId} ${prefix}`
const byKey = (one: SearchRange, other: SearchRange) => (keyOf(one) < keyOf(other) ? -1 : 1)
