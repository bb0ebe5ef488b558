import { afterEach, expect, test } from 'bun:test'
import { dayOf } from '../../src/model/warmup.ts'
import { createComplaintCounter } from '../../src/sending/outbound/senders/warmup-complaints.ts'
import type { Store } from '../../src/storage/store.ts'
import { accept, attempt, claim, createRecords, found, recordOf, START } from '../storage/records.ts'
import { openMemoryStore } from '../support/migrated-store.ts'

/** Which complaints count against the warm-up of an address; the store is real. */

const NEW = '192.0.2.1'
let store: Store
afterEach(() => store.close())

async function open(mxHost: string, emails: string[], change: object = {}) {
  store = await openMemoryStore()
  const records = createRecords()
  await found(store, records)
  const deliveries = emails.map((email) => ({ email, destination: email.split('@')[1]! }))
  const { message } = await accept(store, records.accepted({ deliveries }))
  for (const claimed of await claim(store)) {
    const made = attempt({ number: 1, outcome: 'delivered', mxHost, sourceAddress: NEW, ...change })
    await store.deliveries.record(recordOf(claimed, undefined, { attempt: made }))
  }
  const complain = createComplaintCounter(store, [NEW])
  return {
    complain: (email: string, reporter: string | null, at = START) =>
      complain({ messageId: message.id, delivery: { email, mxHost }, at, reporter: async () => reporter }),
    counted: async () =>
      (await store.warmups.days([NEW])).map(({ group, day, complaints }) => [group, day, complaints]),
  }
}

const TODAY = dayOf(START)

test('those of Microsoft and Yahoo count by their own feedback loops, once a day for each recipient', async () => {
  const { complain, counted } = await open('mx1.hotmail.olc.protection.outlook.com', ['a@hotmail.com', 'b@live.com'])
  for (const forged of [null, 'attacker.example', 'yahoo.com', 'live.com']) await complain('a@hotmail.com', forged)
  expect(await counted()).toEqual([])
  for (const email of ['a@hotmail.com', 'A@hotmail.com', 'b@live.com', 'a@hotmail.com']) {
    await complain(email, 'hotmail.com')
  }
  expect(await counted()).toEqual([['microsoft', TODAY, 2]])
  await complain('a@hotmail.com', 'hotmail.com', START + 86_400_000)
  expect(await counted()).toEqual([
    ['microsoft', TODAY, 2],
    ['microsoft', TODAY + 1, 1],
  ])
})

test('those of Gmail count never, because Google sends none', async () => {
  const { complain, counted } = await open('gmail-smtp-in.l.google.com', ['a@gmail.com'])
  for (const reporter of ['google.com', 'gmail.com', 'hotmail.com']) await complain('a@gmail.com', reporter)
  expect(await counted()).toEqual([])
})

test('those of other providers count once a day for each destination, however many mailboxes it has', async () => {
  const emails = Array.from({ length: 5 }, (_, n) => `user${n}@own.example`)
  const { complain, counted } = await open('mx.attacker.example', emails)
  for (const email of emails) await complain(email, 'own.example')
  for (const email of emails) await complain(email, 'attacker.example')
  expect(await counted()).toEqual([['others', TODAY, 1]])
})

test('mail that went through a relay says nothing about the address', async () => {
  const relay = { name: 'one', rule: 1, because: 'warmup_used_up' }
  const { complain, counted } = await open('mx.own.example', ['a@own.example'], { relay })
  await complain('a@own.example', 'own.example')
  expect(await counted()).toEqual([])
})
