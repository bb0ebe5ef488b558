import { MESSAGE_COLUMNS, type MessageRow, messageOf } from '../mail/rows.ts'
import type { Connection } from '../postgres/connection.ts'
import { sendEach } from '../postgres/each.ts'
import { createMessageWords } from '../postgres/message-words.ts'
import { longStatements } from './postgres-side.ts'

/** Messages whose words are written at once. */
const TOGETHER = 1_000

// Of a run that was cut off.
const REMOVE_STRANGE = `delete from message_words w
  where not exists (select 1 from messages m where m.number = w.message_number)`
const WITHOUT = `select m.number::float8 as number, ${MESSAGE_COLUMNS},
    (select coalesce(json_agg(d.email order by d.position), '[]')::text from deliveries d
      where d.message_number = m.number) as emails
  from messages m where m.number > $1 and not exists (select 1 from message_words w where w.message_number = m.number)
  order by m.number limit $2`

// Searches read the list of new entries whole.
const EMPTY_LIST = `select gin_clean_pending_list('messages_by_word')`

/** Writes the full text of messages that have none. */
export async function writeWords(connection: Connection): Promise<void> {
  const statements = longStatements(connection)
  const words = createMessageWords()
  await statements.query(REMOVE_STRANGE)
  for (let last = 0; ; ) {
    const rows = await statements.query<MessageRow & { number: number; emails: string }>(WITHOUT, [last, TOGETHER])
    const texts = rows.map((row) => ({ number: row.number, message: messageOf(row), emails: JSON.parse(row.emails) }))
    const committed: (() => void)[] = []
    for (const step of words.add(texts, (work) => committed.push(work))) {
      const sent: Promise<unknown>[] = []
      if (step.wants === 'each') sendEach(step, { statements, sent })
      await Promise.all(sent)
    }
    for (const work of committed) work()
    if (rows.length < TOGETHER) break
    last = rows.at(-1)?.number ?? last
  }
  await statements.query(EMPTY_LIST)
}
