import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { until } from '../support/patience.ts'
import { describeWith } from '../support/real-tools.ts'
import { startRemoteMx } from '../support/remote-mx.ts'
import { MAIL, startTestServer, type TestServer } from '../support/server.ts'
import { startHostile } from './hostile.ts'
import { PACKAGES } from './languages.ts'
import { type Line, startLine } from './line.ts'

/** Live events in Python and PHP, over connections that fail. */
let server: TestServer
let line: Line
const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function open() {
  const remote = await startRemoteMx()
  undo.push(remote.stop)
  server = await startTestServer({ remote })
  undo.push(server.close)
  line = await startLine(server.running().listening.http!)
  undo.push(line.stop)
}

const bounced = async (): Promise<string> =>
  (await server.send({ ...MAIL, to: 'bounce@customer.example' }, { authorization: `Bearer ${server.keys.test}` })).body
    .id

const PYTHON = ['/usr/bin/python3', '-B', '-W', 'error', 'stream-program.py']
for (const [name, tools, command] of [
  ['Python', ['python3'], PYTHON],
  ['PHP', ['php', 'php-curl'], ['php', 'stream-program.php']],
] as const) {
  /** Starts the program: where to begin, how many events, and seconds of silence before it connects again. */
  const start = (after: string, { count = 0, silent = 45, url = line.url, key = server.keys.test } = {}) => {
    const child = Bun.spawn([...command, after, String(count), String(silent)], {
      cwd: import.meta.dir,
      env: {
        PATH: process.env.PATH!,
        LANG: 'C.UTF-8',
        PYTHONPATH: join(PACKAGES, 'python'),
        POSTRIDER_URL: url,
        POSTRIDER_API_KEY: key,
      },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    undo.push(() => child.kill('SIGKILL'))
    const printed: string[] = []
    void (async () => {
      let text = ''
      const decoder = new TextDecoder()
      for await (const bytes of child.stdout) {
        text += decoder.decode(bytes, { stream: true })
        const lines = text.split('\n')
        text = lines.pop()!
        printed.push(...lines)
      }
    })()
    return printed
  }

  describeWith(tools, `event streams in ${name}`, () => {
    test('new events are yielded; disconnections and silence lose nothing and repeat nothing', async () => {
      await open()
      const early = await bounced()
      const printed = start('now', { silent: 2 })
      let sent: string[] = []
      while (printed.length === 0) {
        sent.push(await bounced())
        await Bun.sleep(100)
      }
      expect(printed).not.toContain(early)
      sent = sent.slice(sent.indexOf(printed[0]!)) // the others came before the stream
      const all = () => until('all of them', () => printed.length >= sent.length)
      for (let round = 0; round < 2; round++) {
        sent.push(await bounced())
        await all()
        line.cut()
        sent.push(await bounced(), await bounced())
        await all()
      }
      line.freeze()
      sent.push(await bounced())
      await all()
      expect(printed).toEqual(sent)
    })

    test('after sets its start, and break closes the connection', async () => {
      await open()
      const sent = [await bounced(), await bounced()]
      const printed = start('', { count: 2 })
      await until('the end', () => printed.includes('end'))
      expect(printed).toEqual([...sent, 'end'])
      await until('the connection to be closed', () => line.open() === 0)
    })

    test('a rejected key ends it, and so does a server that never answers', async () => {
      await open()
      const unknown = start('', { key: 'svc_test_unknown' })
      const cutting = await startHostile('cut')
      undo.push(cutting.stop)
      const stranger = start('', { url: cutting.url })
      await until('both ends', () => [unknown, stranger].every((each) => each.includes('end')))
      expect([unknown, stranger]).toEqual([
        ['UnauthorizedError', 'end'],
        ['ConnectionFailedError', 'end'],
      ])
      expect(cutting.requests).toHaveLength(3)
    })
  })
}
