import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { documentPages } from '../src/api/documents.ts'
import { healthPages } from '../src/api/health.ts'
import type { Operation } from '../src/api/operation.ts'
import { readConfig } from '../src/config/load.ts'
import { machineChecks, storeChecks } from '../src/health/checks.ts'
import { LIMIT_MS, start, startWith } from './cli/command.ts'
import { type Installed, installClient } from './client/installed.ts'
import { freePort } from './support/free-port.ts'

/** The README is held to what it says: the blocks behind `<!-- runs: … -->` are run as they stand there, in their order
 *  and with what earlier ones left in the environment, against a try-out; its table of endpoints is that of the code.
 *  Of a shell block the comment names the HTTP status of each curl, of any other block the file to save it in. */
const ROOT = join(import.meta.dir, '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const blocks = [...README.matchAll(/^<!-- runs: (.+) -->\n```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, expected = '', language = '', code = '']) => ({ expected, language, code }),
)
const shellBlocks = blocks.filter(({ language }) => language === 'sh')
const curl = Bun.which('curl')

test('every block that is marked is found', () => {
  expect(blocks).toHaveLength(README.split('<!-- runs').length - 1)
  expect(shellBlocks.length).toBeGreaterThan(0)
})

describe('the code of the README', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-readme-test-'))
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const environmentFile = join(folder, 'environment')
  const receiverFile = join(folder, 'receive.mjs')
  let secret = ''
  let live = { api: '', key: '' }
  let installed: Installed
  /** The one that the try-out hands its webhook calls on to. */
  let receiver: ReturnType<typeof startReceiver>

  beforeAll(async () => {
    writeFileSync(receiverFile, blocks.find(({ expected }) => expected === 'receive.mjs')!.code)
    const tellingCurl = join(folder, 'curl')
    writeFileSync(tellingCurl, `#!/bin/sh\nexec '${curl}' --noproxy '*' -w '%{stderr}status %{http_code}\\n' "$@"\n`)
    chmodSync(tellingCurl, 0o755)

    installed = installClient()
    undo.push(installed.remove)
    writeFileSync(join(installed.folder, 'shop.mjs'), blocks.find(({ expected }) => expected === 'shop.mjs')!.code)

    const port = await freePort()
    const running = await start('try', '--json', '--port', '0', '--forward-to', `http://127.0.0.1:${port}/`)
    undo.push(() => running.kill('SIGKILL'))
    const tryOut = JSON.parse(await running.line)
    secret = tryOut.webhook.secret
    const { base_url: API, api_key: TEST_KEY, live_key: KEY, smtp: SMTP, smtp_inbound: INBOUND } = tryOut
    live = { api: API, key: KEY }
    const variables = { API, TEST_KEY, KEY, SMTP, INBOUND }
    const lines = Object.entries({ ...variables, PATH: `${folder}:${process.env.PATH}` })
    writeFileSync(environmentFile, lines.map(([name, value]) => `${name}='${value}'\n`).join(''))
    receiver = startReceiver(process.execPath, port)
  }, LIMIT_MS)
  afterAll(() => {
    for (const step of undo.reverse()) step()
  })

  for (const { expected, code } of shellBlocks) {
    test.skipIf(curl === null)(
      `this gives ${expected}: ${code.trim().split('\n').at(-1)}`,
      () => {
        const script = `set -eua\n. '${environmentFile}'\n${code}\nexport -p >'${environmentFile}'\n`
        const run = Bun.spawnSync(['sh', '-c', script], { env: {}, timeout: LIMIT_MS })
        const statuses = [...run.stderr.toString().matchAll(/^status (\d+)$/gm)].map(([, status]) => status)
        expect([run.exitCode, statuses.join(' ')]).toEqual([0, expected])
        expect(run.stdout.toString()).not.toContain('"error":')
      },
      LIMIT_MS,
    )
  }

  test.skipIf(curl === null)(
    'the events of all that reached the receiver, by way of the try-out',
    async () => {
      for (const type of ['message.bounced', 'message.delivered', 'message.clicked']) await receiver.says(type)
    },
    LIMIT_MS,
  )

  const runtimes = { Bun: process.execPath, Node: Bun.which('node') }
  for (const [name, runtime] of Object.entries(runtimes)) {
    test.skipIf(runtime === null)(
      `on ${name} the receiver takes genuine calls and answers 401 to all others`,
      async () => {
        const own = startReceiver(runtime!, await freePort())
        await own.says('waiting on port')
        const body = JSON.stringify({ id: 'evt_1', type: 'message.opened', data: { to: 'ann@customer.example' } })
        const now = Math.floor(Date.now() / 1000) // the receiver has no other clock
        const sign = (t: number) => createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
        const statusOf = (signature: string) => post(own.port, body, signature)

        expect(await statusOf(`t=${now},v1=${sign(now)}`)).toBe(204)
        expect(await statusOf(`t=${now}, v1=${'0'.repeat(64)}, v1=${sign(now)}`)).toBe(204)
        await own.says('evt_1 message.opened ann@customer.example')
        const stale = now - 330
        const others = [`t=${stale},v1=${sign(stale)}`, `t=${now},v1=${'0'.repeat(64)}`, `v1=${sign(now)}`]
        for (const signature of [...others, '', 'v1', 't=,v1=', 't=x,v1=x']) expect(await statusOf(signature)).toBe(401)
      },
      LIMIT_MS,
    )
  }

  for (const [name, runtime] of Object.entries(runtimes)) {
    test.skipIf(runtime === null)(
      `on ${name} the client sends, waits, lists and is told what is wrong`,
      () => {
        const [API, KEY] = ['API', 'KEY'].map((variable) => valueIn(environmentFile, variable))
        const run = Bun.spawnSync([runtime!, 'shop.mjs'], {
          cwd: installed.folder,
          env: { API, KEY },
          timeout: LIMIT_MS,
        })
        expect(run.stderr.toString()).toBe('')
        expect(run.stdout.toString()).toMatch(/^delivered 250 .+\n(msg_\w+ delivered\n)+\[\s*\{\s*field: ['"]to['"]/)
      },
      LIMIT_MS,
    )
  }

  test(
    'the receiver takes what listen posts, with the secret that is printed',
    async () => {
      const own = startReceiver(process.execPath, await freePort())
      await own.says('waiting on port')
      const to = ['--forward-to', `http://127.0.0.1:${own.port}`, '--secret', secret]
      const env = { POSTRIDER_API_KEY: live.key }
      const listening = await startWith(
        env,
        'listen',
        '--url',
        live.api,
        '--events',
        'message.bounced',
        '--after',
        '',
        ...to,
      )
      undo.push(() => listening.kill('SIGKILL'))
      await own.says('message.bounced')
      const isTaken = (lines: string[]) => lines.some((line) => line.includes('→ 204'))
      for (let count = 1; !isTaken(await listening.lines(count)); count++);
      listening.kill('SIGINT')
      expect((await listening.ended).code).toBe(130)
    },
    LIMIT_MS,
  )

  /** `says` resolves once the text was printed. */
  function startReceiver(runtime: string, port: number) {
    const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) }
    const child = Bun.spawn([runtime, receiverFile], { env, stdout: 'pipe', stderr: 'inherit' })
    undo.push(() => child.kill())
    let printed = ''
    const waiting = new Map<string, () => void>()
    const decoder = new TextDecoder()
    void (async () => {
      for await (const part of child.stdout) {
        printed += decoder.decode(part, { stream: true })
        for (const [text, resolve] of waiting) if (printed.includes(text)) resolve()
      }
    })()
    const says = (text: string) =>
      new Promise<void>((resolve) => (printed.includes(text) ? resolve() : waiting.set(text, resolve)))
    return { port, says }
  }
})

describe('the tables of the README', () => {
  test('every operation stands among the endpoints with its permission, and none that does not exist', async () => {
    const rows = [...README.matchAll(/^\| ([A-Z]+) \| `(\/[^`]+)` \| (\w+) \|/gm)]
    const documented = rows.map(([, method, path, permission]) => `${method} ${path} ${permission}`)
    const operations = (await allOperations()).map(
      ({ method, path, permission, forOperator }) => `${method} ${path} ${forOperator ? 'operator' : permission}`,
    )
    const served = [...healthPages(anything), ...documentPages([], '')]
    const pages = served.map(({ method, path }) => `${method} ${path} none`)
    expect(documented.toSorted()).toEqual([...operations, ...pages].toSorted())
  })

  test('every health check stands in the table of the doctor, and none that does not exist', () => {
    const [, table = ''] = /^## Doctor$([\s\S]*?)^## /m.exec(README)!
    const documented = [...table.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, names = '']) => codeIn(names))
    const checks = [...machineChecks(anything, anything, anything), ...storeChecks(anything)]
    expect(documented.toSorted()).toEqual(['config', ...checks.map(({ name }) => name)].toSorted())
  })

  test('what it says to write into the config is accepted', () => {
    const indented = [...README.matchAll(/^ {4}\[\w+[\w.]*\]\n(?: {4}.*\n)+/gm)].map(([text]) =>
      text.replace(/^ {4}/gm, ''),
    )
    const fenced = [...README.matchAll(/^```toml\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)
    expect(indented.length + fenced.length).toBeGreaterThan(4)
    for (const text of [...indented, ...fenced]) {
      const { faults } = readConfig({ text: `hostname = "mail.example.com"\n${text}`, file: 'config.toml', env: {} })
      expect({ text, faults }).toEqual({ text, faults: undefined })
    }
  })

  test('every room of the house is on the map, and what the map, links and commands name is there', () => {
    const rooms = [...README.matchAll(/^\| \d \| (.+?) \|/gm)].flatMap(([, names = '']) => codeIn(names))
    const links = [...README.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path!)
    const scripts = [...README.matchAll(/\b(?:scripts|test)\/[\w./-]*\w/g)].map(([path]) => path)
    const named = [...rooms.map((room) => `src/${room}`), ...links, ...scripts]
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])

    const sources = [...new Bun.Glob('**/*.ts').scanSync(join(ROOT, 'src'))].filter(
      (path) => !path.endsWith('.test.ts'),
    )
    const inSource = sources.map((path) => path.replace(/\/.*/, '/'))
    expect([...new Set(inSource)].filter((room) => !rooms.includes(room))).toEqual([])
  })
})

function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
}

/** Of a file of lines `export NAME='value'`. */
function valueIn(file: string, name: string): string {
  return new RegExp(`\\b${name}='(.*)'`).exec(readFileSync(file, 'utf8'))?.[1] ?? ''
}

/** Stands for whatever operations are made with, as long as none is called. */
// biome-ignore lint/suspicious/noExplicitAny: it has every type
const anything: any = new Proxy(() => {}, { get: () => anything })

/** All that src/api/routes exports as `…Operations`, each once. */
async function allOperations(): Promise<Operation[]> {
  const byName = new Map<string, Operation>()
  for (const file of new Bun.Glob('*.ts').scanSync(join(ROOT, 'src/api/routes'))) {
    if (file.endsWith('.test.ts')) continue
    const exported: Record<string, unknown> = await import(`../src/api/routes/${file}`)
    for (const [name, make] of Object.entries(exported)) {
      if (!name.endsWith('Operations') || typeof make !== 'function') continue
      for (const operation of make(anything, anything)) byName.set(`${operation.method} ${operation.path}`, operation)
    }
  }
  return [...byName.values()]
}

/** The status that the receiver answers. */
function post(port: number, body: string, signature: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-service-signature': signature }
    const asked = request({ host: '127.0.0.1', port, method: 'POST', headers, agent: false }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
