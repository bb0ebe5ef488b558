import { afterEach, expect, test } from 'bun:test'
import {
  closeSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createDeliveredJournal, journalPath, type Note, readJournals } from './delivered-journal.ts'

const folder = join(mkdtempSync(join(tmpdir(), 'postrider-taken-')), 'taken')
afterEach(() => rmSync(dirname(folder), { recursive: true, force: true }))

const note = (number: number, transcript = ''): Note => ({
  deliveryId: `dlv_${number}`,
  outcome: { kind: 'delivered', reply: { code: 250, enhanced: '2.0.0', text: 'taken' } },
  attempt: {
    number: 1,
    startedAt: 0,
    durationMs: 5,
    outcome: 'delivered',
    mxHost: 'mx.example',
    mxAddress: '192.0.2.1',
    sourceAddress: null,
    tlsVersion: null,
    tlsCipher: null,
    tlsVerified: false,
    tlsPolicy: 'none',
    reply: '250 2.0.0 taken',
    enhancedCode: '2.0.0',
    cause: null,
    transcript,
  },
})
const idsIn = () => readJournals(folder).flatMap(({ notes }) => notes.map(({ deliveryId }) => deliveryId))
const file = () => join(folder, readdirSync(folder)[0]!)

test('the next process reads the notes with the previous worker’s name', () => {
  const journal = createDeliveredJournal(journalPath(folder, 'worker-1'))
  expect(readJournals(folder)).toEqual([])
  for (const number of [1, 2]) expect(journal.note(note(number, '0 C: QUIT'))).toBe(true)
  const [read] = readJournals(folder)
  expect(read).toEqual({ path: file(), worker: 'worker-1', notes: [1, 2].map((number) => note(number, '0 C: QUIT')) })
  expect(statSync(file()).mode & 0o777).toBe(0o600)
})

test('reuses the slot of a stored mail and leaves nothing of its note', async () => {
  const journal = createDeliveredJournal(journalPath(folder, 'worker-1'), 0)
  for (const number of [1, 2, 3]) journal.note(note(number))
  const size = statSync(file()).size
  journal.settle(['dlv_2', 'dlv_9'])
  journal.note(note(4))
  expect(idsIn()).toEqual(['dlv_1', 'dlv_4', 'dlv_3'])
  expect(statSync(file()).size).toBe(size)
  journal.settle(['dlv_1', 'dlv_3', 'dlv_4'])
  await new Promise((resolve) => setTimeout(resolve))
  expect(statSync(file()).size).toBe(0)
  journal.note(note(5))
  expect(idsIn()).toEqual(['dlv_5'])
})

test('close removes the file unless a note is not stored yet', () => {
  const journal = createDeliveredJournal(journalPath(folder, 'worker-1'))
  journal.note(note(1))
  journal.close()
  expect(idsIn()).toEqual(['dlv_1'])
  const next = createDeliveredJournal(journalPath(folder, 'worker-2'))
  next.note(note(2))
  next.settle(['dlv_2'])
  next.close()
  expect(idsIn()).toEqual(['dlv_1'])
})

test('drops a long transcript, and refuses a note that is too long without one', () => {
  const journal = createDeliveredJournal(journalPath(folder, 'worker-1'))
  expect(journal.note(note(1, 'x'.repeat(5_000)))).toBe(true)
  expect(readJournals(folder)[0]!.notes).toEqual([note(1)])
  const wordy = note(2)
  expect(journal.note({ ...wordy, attempt: { ...wordy.attempt, reply: 'x'.repeat(5_000) } })).toBe(false)
  expect(idsIn()).toEqual(['dlv_1'])
})

test('skips torn and invalid notes', () => {
  const journal = createDeliveredJournal(journalPath(folder, 'worker-1'))
  for (const number of [1, 2, 3]) journal.note(note(number))
  const bytes = readFileSync(file())
  bytes[4096 + 100]! ^= 1
  writeFileSync(file(), bytes.subarray(0, -10))
  expect(idsIn()).toEqual(['dlv_1'])
  writeFileSync(file(), Buffer.alloc(9_000, 255))
  expect(idsIn()).toEqual([])
})

test('keeps the file when the disk refuses to truncate it', async () => {
  const journal = createDeliveredJournal(journalPath(folder, 'worker-1'), 0)
  journal.note(note(1))
  const isOpen = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === file()
    } catch {
      return false
    }
  }
  closeSync(Number(readdirSync('/proc/self/fd').find(isOpen)))
  journal.settle(['dlv_1'])
  await new Promise((resolve) => setTimeout(resolve))
  expect(idsIn()).toEqual(['dlv_1'])
})

test('notes nothing where nothing can be written', () => {
  const journal = createDeliveredJournal(journalPath('/dev/null/taken', 'worker-1'))
  expect(journal.note(note(1))).toBe(false)
  journal.settle(['dlv_1'])
  journal.close()
})
