import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { startListener } from './setup.ts'

/** Sends everything at once and reads replies until the connection ends. */
function repliesTo(port: number, lines: string): Promise<string> {
  return new Promise((resolve) => {
    let replies = ''
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.on('data', (bytes: Buffer) => {
        replies += bytes
      })
      socket.write(lines)
    })
    socket.once('close', () => resolve(replies))
  })
}

// threat: smtp-command-flood
test('a packet of a thousand commands does not block the thread', async () => {
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  const inTurn = new Map<number, number>()
  const onRecipient = async (_: unknown, recipient: { address: string }) => {
    inTurn.set(turn, (inTurn.get(turn) ?? 0) + 1)
    return recipient.address
  }
  const listener = await startListener({ handler: { onRecipient } })
  count()
  const names = Array.from({ length: 1_000 }, (_, at) => `RCPT TO:<a${at}@b.example>\r\n`)
  await repliesTo(listener.port, `EHLO x\r\nMAIL FROM:<>\r\n${names.join('')}QUIT\r\n`)
  isOver = true
  expect([...inTurn.values()].reduce((sum, each) => sum + each, 0)).toBeGreaterThan(30)
  // A turn of commands may begin on either side of ours.
  expect(Math.max(...inTurn.values())).toBeLessThanOrEqual(70)
  await listener.stop()
})

// threat: smtp-command-flood
test('naming one recipient again and again ends the connection', async () => {
  const listener = await startListener()
  const replies = await repliesTo(
    listener.port,
    `EHLO x\r\nMAIL FROM:<>\r\n${'RCPT TO:<a@b.example>\r\n'.repeat(1_000)}QUIT\r\n`,
  )
  expect(replies).toEndWith('421 4.7.0 too many commands without a message\r\n')
  expect(replies.split('recipient ok').length).toBeLessThan(120)
  await listener.stop()
})

// threat: smtp-command-flood
test('three thousand pipelined NOOPs end with a reply, also for a client that reads only after writing all', async () => {
  const listener = await startListener()
  for (const pieces of [1, 30, 3_000]) {
    const client = await (await listener.connect()).hello()
    client.socket.pause()
    for (let piece = 0; piece < pieces; piece++) {
      client.write('NOOP\r\n'.repeat(3_000 / pieces))
      if (piece % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    client.socket.resume()
    const replies: string[] = []
    for (let reply = await client.reply(); reply !== '(closed)'; reply = await client.reply()) replies.push(reply)
    expect(replies.at(-1)).toBe('421 4.7.0 too many commands without a message')
    expect(new Set(replies.slice(0, -1))).toEqual(new Set(['250 2.0.0 ok']))
  }
  await listener.stop()
})
