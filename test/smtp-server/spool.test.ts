import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createLog } from '../../src/os/log.ts'
import { ampleMemory, createMemory, type Memory } from '../../src/os/memory.ts'
import { replyTo } from '../../src/receiving/smtp-server/replies.ts'
import { createSpool } from '../../src/receiving/smtp-server/spool.ts'
import { receiveData } from '../../src/receiving/smtp-server/transaction.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { until } from '../support/patience.ts'
import { startListener, takenOf } from './setup.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'smtp-spool-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

let names = 0
const mintName = () => (names++).toString(16).padStart(32, '0')
const MiB = 2 ** 20
const spoolOf = (options: { dir: string; memoryBytes: number; memory?: Memory }) =>
  createSpool({ mintName, clock: createFakeClock(0), memory: ampleMemory, ...options })

test('returns a mail as written, small or large, in small or large pieces', async () => {
  const spool = spoolOf({ dir, memoryBytes: 64 * MiB })
  for (const [pieceBytes, count] of [
    [1, 40_000],
    [1_000, 3],
    [16_384, 8],
    [50_000, 60],
    [3 * MiB, 2],
  ] as const) {
    const mail = spool.begin()
    const expected = new Bun.CryptoHasher('sha1')
    for (let at = 0; at < count; at++) {
      const piece = new Uint8Array(pieceBytes).fill(at)
      expected.update(piece)
      await mail.write(piece)
      if (piece.length > 0) piece.fill(255) // it was copied, and belongs to the caller again
    }
    const read = await mail.read()
    expect(read.length).toBe(pieceBytes * count)
    expect(read.buffer.byteLength).toBe(read.length) // a separate buffer, so that it can be transferred to a thread
    expect(new Bun.CryptoHasher('sha1').update(read).digest('hex')).toBe(expected.digest('hex'))
    await mail.discard()
  }
})

test('spool files have no name once open, and prepare removes those of a crash', async () => {
  writeFileSync(join(dir, `mail-${'0'.repeat(31)}f.part`), 'left behind')
  writeFileSync(join(dir, 'other'), 'not ours')
  const spool = spoolOf({ dir: join(dir), memoryBytes: 64 * MiB })
  await spool.prepare()
  expect(readdirSync(dir)).toEqual(['other'])
  const mail = spool.begin()
  await mail.write(new Uint8Array(2 * MiB))
  expect(readdirSync(dir)).toEqual(['other'])
  await mail.discard()
  await spoolOf({ dir: join(dir, 'new/folder'), memoryBytes: 1 }).prepare()
  expect(existsSync(join(dir, 'new/folder'))).toBe(true)
})

/** The open mail files, which have no name in the folder. */
const filesOpen = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(dir)
    } catch {
      return false // closed in the meantime
    }
  }).length

test('small mail goes to files when many arrive at once', async () => {
  const spool = spoolOf({ dir, memoryBytes: 256 * 1024 }) // 64 KiB for incoming mails
  const mails = Array.from({ length: 20 }, () => spool.begin())
  for (const mail of mails) for (let at = 0; at < 10; at++) await mail.write(new Uint8Array(10_000).fill(at))
  expect(filesOpen()).toBe(20) // 100 kB do not fit for any of them
  const reads = await Promise.all(
    mails.map(async (mail) => {
      const { length } = await mail.read()
      await mail.discard()
      return length
    }),
  )
  expect(reads).toEqual(Array.from({ length: 20 }, () => 100_000))
})

test('a mail stays in memory up to one mebibyte, and releases it to the next', async () => {
  const spool = spoolOf({ dir, memoryBytes: 8 * MiB }) // 2 MiB for incoming mails
  const [first, second, third] = [spool.begin(), spool.begin(), spool.begin()]
  await first.write(new Uint8Array(MiB))
  await second.write(new Uint8Array(MiB))
  expect(filesOpen()).toBe(0)
  await third.write(new Uint8Array(1))
  expect(filesOpen()).toBe(1)
  await first.discard()
  const fourth = spool.begin()
  await fourth.write(new Uint8Array(MiB - 1))
  expect(filesOpen()).toBe(1)
  await fourth.write(new Uint8Array(2))
  expect(filesOpen()).toBe(2)
  for (const mail of [second, third, fourth]) await mail.discard()
  expect(filesOpen()).toBe(0)
})

test('spooled mails wait for memory in request order', async () => {
  const spool = spoolOf({ dir, memoryBytes: 5 * MiB })
  const mails = Array.from({ length: 4 }, () => spool.begin())
  for (const mail of mails) await mail.write(new Uint8Array(2 * MiB))
  const read: number[] = []
  const reading = mails.map((mail, index) => mail.read().then(() => read.push(index)))
  const givenUp = reading[3]!.catch((thrown: Error) => thrown.message)
  await Promise.all(reading.slice(0, 2))
  await Bun.sleep(5) // for a third one, which must not follow: on a slow machine the test sees less
  expect(read.toSorted()).toEqual([0, 1])
  await mails[1]!.discard()
  await reading[2]
  expect(read.length).toBe(3)
  await mails[3]!.discard() // abandoned while it waits
  await mails[0]!.discard()
  expect(await givenUp).toContain('discarded')
  await mails[2]!.discard()
  const last = spool.begin()
  await last.write(new Uint8Array(5 * MiB))
  expect((await last.read()).length).toBe(5 * MiB) // everything has been released
  await last.discard()
})

// threat: memory-exhaustion
test('defers a mail that finds no memory for five minutes without blocking others', async () => {
  const clock = createFakeClock(0)
  const memory = createMemory({ limitBytes: 300_000_000, largestMailBytes: 0, clock, residentBytes: () => 0 })
  const spool = createSpool({ dir, memoryBytes: 64 * MiB, mintName, clock, memory })
  const [first, second] = [spool.begin(), spool.begin()]
  for (const mail of [first, second]) await mail.write(new Uint8Array(8 * MiB)) // nine times that is most of it
  await first.read()
  const waiting = second.read().catch((thrown: Error) => thrown.message)
  await clock.untilSleeping()
  await clock.advance(300_000)
  expect(await waiting).toBe('452 4.3.1 insufficient memory for a message of this size, try again later')
  for (const mail of [first, second]) await mail.discard()
  expect(memory.reservedBytes()).toBe(0)
})

test('a small mail does not wait behind large ones', async () => {
  const spool = spoolOf({ dir, memoryBytes: 5 * MiB })
  const [first, second, small] = [spool.begin(), spool.begin(), spool.begin()]
  for (const mail of [first, second]) await mail.write(new Uint8Array(5 * MiB))
  await small.write(new Uint8Array(10_000))
  await first.read()
  const waiting = second.read()
  expect((await small.read()).length).toBe(10_000)
  expect(Bun.peek.status(waiting)).toBe('pending')
  await first.discard()
  await waiting
  for (const mail of [second, small]) await mail.discard()
})

test('a full disk gives 452, after the whole mail has been read', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  let discarded = 0
  const mail = {
    write: () => Promise.reject(full),
    discard: async () => void discarded++,
  }
  let pieces = 0
  const stream = Readable.from(Array.from({ length: 10 }, () => Buffer.from('x\r\n')))
  const failure = await receiveData(stream, mail, { messageBytes: 1e9, onPiece: () => pieces++ }).catch(
    (thrown) => thrown,
  )
  const log = createLog({ clock: createFakeClock(0), level: 'error', format: 'json', write: () => {} })
  expect(replyTo(failure, log).message).toBe('452 4.3.1 storage temporarily unavailable, try again later')
  expect([pieces, discarded]).toEqual([10, 1])
})

test('a mail of 25 MB passes through a file whole, including its dots', async () => {
  const smtp = await startListener()
  const client = await (await smtp.connect()).hello()
  const line = `..${'x'.repeat(73)}\r\n`
  const count = Math.floor((25 * MiB) / (line.length - 1)) - 1
  expect(await client.mail(`\r\n${line.repeat(count)}`)).toBe('250 2.0.0 taken as 1')
  expect(smtp.taken[0]!.raw === `\r\n${line.slice(1).repeat(count)}`).toBe(true)
  expect(smtp.taken[0]!.sizeBytes).toBe(2 + (line.length - 1) * count)
  await smtp.stop()
})

test('a broken spool gives 451 and the connection stays open; small mails are still accepted', async () => {
  const smtp = await startListener({ settings: { spoolDir: dir } })
  rmSync(dir, { recursive: true })
  const client = await (await smtp.connect()).hello()
  expect(await client.mail(`\r\n${`${'x'.repeat(70)}\r\n`.repeat(20_000)}`)).toBe(
    '451 4.3.0 internal error, try again later',
  )
  expect(await client.mail('\r\nsmall\r\n')).toBe('250 2.0.0 taken as 1')
  await smtp.stop()
})

test('a handler that holds a mail delays the next one’s memory, not its sender', async () => {
  let letGo = () => {}
  const order: string[] = []
  const smtp = await startListener({
    limits: { memoryBytes: 3 * MiB },
    handler: {
      onMail: async (mail) => {
        const { from } = await takenOf(mail)
        order.push(`read ${from}`)
        if (order.length === 1) await new Promise<void>((resolve) => (letGo = resolve))
        order.push(`done ${from}`)
        return 'taken'
      },
    },
  })
  const body = `\r\n${`${'x'.repeat(70)}\r\n`.repeat(28_000)}`
  const one = await (await smtp.connect()).hello()
  const two = await (await smtp.connect()).hello()
  const first = one.mail(body)
  await until('the handler to hold the first mail', () => order.length > 0)
  const second = two.mail(body)
  await smtp.hasRead(two)
  await Bun.sleep(50) // for its handler, which must not begin: on a slow machine the test sees less
  expect(order.length).toBe(1)
  letGo()
  expect(await Promise.all([first, second])).toEqual(['250 2.0.0 taken', '250 2.0.0 taken'])
  expect(order.map((line) => line.slice(0, 4))).toEqual(['read', 'done', 'read', 'done'])
  await smtp.stop()
})
