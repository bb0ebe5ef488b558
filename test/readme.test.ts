import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandTree } from '../src/cli/manual/packed.ts'
import { readConfig } from '../src/config/load.ts'
import { machineChecks, sharedChecks, storeChecks } from '../src/operating/health/checks.ts'
import { documentPages } from '../src/web/api/documents.ts'
import { healthPages } from '../src/web/api/health.ts'
import { allOperations } from '../src/web/manual/all-operations.ts'
import { allOf } from '../src/web/manual/command-tree.ts'
import { GENERATED, TOPICS } from '../src/web/manual/contents.ts'
import { createAnchors } from '../src/web/manual/markdown.ts'
import { manualPages } from '../src/web/manual/pages.ts'
import { OPEN_PATHS, referencePages } from '../src/web/manual/reference.ts'
import { start, startWith } from './cli/command.ts'
import { type Installed, installClient } from './client/installed.ts'
import { DOCUMENTATION, documentationOf } from './support/documentation.ts'
import { freePort } from './support/free-port.ts'
import { installCommands } from './support/machine-commands.ts'
import { PATIENCE_MS } from './support/patience.ts'

/** README and manual are checked against the program. The blocks after `<!-- runs: … -->` run as they are, in the order of the
 *  pages and with the variables that earlier ones set, against a try-out. For a shell block the comment has the HTTP status
 *  of each curl, or `done` without one; for any other block, and for one that another test runs, the name of the file to
 *  save it in. */
const ROOT = join(import.meta.dir, '..')
const README = documentationOf('README.md')
const TEXTS = DOCUMENTATION.map(({ text }) => text)
const blocks = TEXTS.flatMap((text) => [...text.matchAll(/^<!-- runs: (.+) -->\n```(\w+)\n([\s\S]*?)^```$/gm)]).map(
  ([, expected = '', language = '', code = '']) => ({ expected, language, code }),
)
const shellBlocks = blocks.filter(({ language, expected }) => language === 'sh' && !expected.endsWith('.sh'))
const curl = Bun.which('curl')

test('every marked block is found', () => {
  expect(blocks).toHaveLength(TEXTS.join('').split('<!-- runs').length - 1)
  expect(shellBlocks.length).toBeGreaterThan(15)
})

describe('the code of README and manual', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-readme-test-'))
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const environmentFile = join(folder, 'environment')
  const receiverFile = join(folder, 'receive.mjs')
  let secret = ''
  let live = { api: '', key: '' }
  let installed: Installed
  /** The receiver to which the try-out forwards its webhook calls. */
  let receiver: ReturnType<typeof startReceiver>

  beforeAll(async () => {
    writeFileSync(receiverFile, blocks.find(({ expected }) => expected === 'receive.mjs')!.code)
    const tellingCurl = join(folder, 'curl')
    writeFileSync(tellingCurl, `#!/bin/sh\nexec '${curl}' --noproxy '*' -w '%{stderr}status %{http_code}\\n' "$@"\n`)
    chmodSync(tellingCurl, 0o755)
    installCommands(folder)

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
    const variables = { API, TEST_KEY, KEY, SMTP, INBOUND, POSTRIDER_URL: API, POSTRIDER_API_KEY: KEY }
    const lines = Object.entries({ ...variables, PATH: `${folder}:${process.env.PATH}` })
    writeFileSync(environmentFile, lines.map(([name, value]) => `${name}='${value}'\n`).join(''))
    receiver = startReceiver(process.execPath, port)
    await receiver.says('waiting on port')
  })
  afterAll(() => {
    for (const step of undo.reverse()) step()
  })

  for (const { expected, code } of shellBlocks) {
    test.skipIf(curl === null)(`this gives ${expected}: ${code.trim().split('\n').at(-1)}`, () => {
      const script = `set -eua\n. '${environmentFile}'\n${code}\nexport -p >'${environmentFile}'\n`
      const run = Bun.spawnSync(['sh', '-c', script], { env: {}, cwd: folder, timeout: PATIENCE_MS })
      const statuses = [...run.stderr.toString().matchAll(/^status (\d+)$/gm)].map(([, status]) => status)
      const stderr = run.exitCode === 0 ? '' : run.stderr.toString()
      expect([run.exitCode, statuses.join(' ') || 'done', stderr]).toEqual([0, expected, ''])
      expect(run.stdout.toString()).not.toContain('"error":')
    })
  }

  test.skipIf(curl === null)('the receiver gets the events of all messages, through the try-out', async () => {
    for (const type of ['message.bounced', 'message.delivered', 'message.clicked']) await receiver.says(type)
  })

  const runtimes = { Bun: process.execPath, Node: Bun.which('node') }
  for (const [name, runtime] of Object.entries(runtimes)) {
    test.skipIf(runtime === null)(
      `on ${name} the receiver accepts genuine calls and answers 401 to all others`,
      async () => {
        const own = startReceiver(runtime!, await freePort())
        await own.says('waiting on port')
        const body = JSON.stringify({ id: 'evt_1', type: 'message.opened', data: { to: 'ann@customer.example' } })
        const now = Math.floor(Date.now() / 1000) // the receiver uses the real clock
        const sign = (t: number) => createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
        const statusOf = (signature: string) => post(own.port, body, signature)

        expect(await statusOf(`t=${now},v1=${sign(now)}`)).toBe(204)
        expect(await statusOf(`t=${now}, v1=${'0'.repeat(64)}, v1=${sign(now)}`)).toBe(204)
        await own.says('evt_1 message.opened ann@customer.example')
        const stale = now - 330
        const others = [`t=${stale},v1=${sign(stale)}`, `t=${now},v1=${'0'.repeat(64)}`, `v1=${sign(now)}`]
        for (const signature of [...others, '', 'v1', 't=,v1=', 't=x,v1=x']) expect(await statusOf(signature)).toBe(401)
      },
    )
  }

  for (const [name, runtime] of Object.entries(runtimes)) {
    test.skipIf(runtime === null)(`on ${name} the client sends, waits, lists and reports errors`, () => {
      const [API, KEY] = ['API', 'KEY'].map((variable) => valueIn(environmentFile, variable))
      const run = Bun.spawnSync([runtime!, 'shop.mjs'], {
        cwd: installed.folder,
        env: { API, KEY },
        timeout: PATIENCE_MS,
      })
      expect(run.stderr.toString()).toBe('')
      expect(run.stdout.toString()).toMatch(/^delivered 250 .+\n(msg_\w+ delivered\n)+\[\s*\{\s*field: ['"]to['"]/)
    })
  }

  test('the receiver accepts what listen posts, with the printed secret', async () => {
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
  })

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

describe('README and manual', () => {
  test('list every operation with its permission, and every path without a key', async () => {
    const { 'api-operations': text = '' } = await referencePages(commandTree())
    const documented = [...text.matchAll(/^\| `([A-Z]+ \/[^`]+)` \| (\w+) \|/gm)].map(
      ([, operation, permission]) => `${operation} ${permission}`,
    )
    const operations = (await allOperations()).map(
      ({ method, path, access: { permission, role } }) =>
        `${method} ${path} ${role === 'operator' ? 'operator' : permission}`,
    )
    const served = [...healthPages(anything), ...documentPages([], ''), ...manualPages(anything, anything)]
    const open = served
      .filter(({ path }) => !['/manual', '/manual/assets/*'].includes(path))
      .map(({ path }) => path.replace(/\*$/, ''))
    expect(Object.keys(OPEN_PATHS).toSorted()).toEqual(open.toSorted())
    expect(documented.toSorted()).toEqual([...operations, ...open.map((path) => `GET ${path} none`)].toSorted())
    expect(operations.length).toBeGreaterThan(70)
  })

  test('list every health check', () => {
    const documented = [...documentationOf('health-checks').matchAll(/^\| (`.+?) \|/gm)].flatMap(([, names = '']) =>
      codeIn(names),
    )
    const checks = [
      ...machineChecks(anything, anything, anything),
      ...storeChecks(anything),
      ...sharedChecks(anything, anything, anything),
    ]
    expect(documented.toSorted()).toEqual(['config', ...checks.map(({ name }) => name)].toSorted())
  })

  test('show config that the program accepts', () => {
    const indented = TEXTS.flatMap((text) => [...text.matchAll(/^ {4}\[\w+[\w.]*\]\n(?: {4}.*\n)+/gm)]).map(([text]) =>
      text.replace(/^ {4}/gm, ''),
    )
    const fenced = TEXTS.flatMap((text) => [...text.matchAll(/^```toml\n([\s\S]*?)^```$/gm)]).map(([, text]) => text!)
    expect(indented.length + fenced.length).toBeGreaterThan(4)
    for (const text of [...indented, ...fenced]) {
      const { faults } = readConfig({ text: `hostname = "mail.example.com"\n${text}`, file: 'config.toml', env: {} })
      expect({ text, faults }).toEqual({ text, faults: undefined })
    }
  })

  test('name only commands and options that exist', () => {
    const nodes = new Map(allOf(commandTree()).map((node) => [node.path, node]))
    const unknown: string[] = []
    for (const { path, text } of DOCUMENTATION) {
      const code = [...text.matchAll(/`([^`\n]+)`|^(?: {4})?((?:\.\/dist\/)?postrider .+)$/gm)].map(
        ([, inline, line]) => inline ?? line!,
      )
      for (const line of code) {
        const [, rest] = /^(?:\S+=\S+ )*(?:\.\/dist\/)?postrider ([a-z][^#|>&]*)/.exec(line) ?? []
        if (rest === undefined) continue
        const words = rest.trim().split(/\s+/)
        const command = [words.slice(0, 2).join(' '), words[0]!].find((each) => nodes.has(each))
        const options = nodes.get(command ?? '')?.options.flatMap(({ names }) => names) ?? []
        const wrong = words.filter((word) => word.startsWith('--') && !options.includes(word))
        if (command === undefined || wrong.length > 0) unknown.push(`${path}: ${line}`)
      }
    }
    expect(unknown).toEqual([])
  })

  test('name files that exist, and the source map has every top-level entry of src', () => {
    const modules = [...README.matchAll(/^\| \d \| (.+?) \|/gm)].flatMap(([, names = '']) => codeIn(names))
    const walks = README.split(/^\*\*From .+\*\*$/m).slice(1)
    const ofWalk = walks.map((walk) => walk.split(/^## /m)[0] ?? '')
    const walked = ofWalk.map((walk) => [...walk.matchAll(/`([\w/-]+\.ts)`/g)].map(([, path]) => path))
    expect(walked.map((files) => files.length <= 35 && files.length > 20)).toEqual([true, true])
    expect(ofWalk.map((walk) => walk.split('↩').length - 1)).toEqual([5, 5])
    const sourceFiles = walked.flat().map((path) => `src/${path}`)
    const scripts = TEXTS.flatMap((text) => [...text.matchAll(/\b(?:scripts|test)\/[\w./-]*\w/g)]).map(([path]) => path)
    const named = [...modules.map((name) => `src/${name}`), ...sourceFiles, ...scripts]
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])

    const sources = [...new Bun.Glob('**/*.ts').scanSync(join(ROOT, 'src'))].filter(
      (path) => !path.endsWith('.test.ts'),
    )
    const inSource = sources.map((path) => path.replace(/\/.*/, '/'))
    expect([...new Set(inSource)].filter((name) => !modules.some((module) => module.startsWith(name)))).toEqual([])
  })

  test('link only to pages, sections and files that exist', async () => {
    const wrong: string[] = []
    for (const { path, text } of await allPages()) {
      for (const [, href = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(href)) continue
        const [file = '', anchor = ''] = href.split('#')
        const target = file === '' ? path : join(path, '..', file)
        const isThere =
          existsSync(join(ROOT, target)) || GENERATED.includes(/^src\/web\/manual\/(.+)\.md$/.exec(target)?.[1] ?? '')
        if (!isThere || (anchor !== '' && !anchorsOf(target).includes(anchor))) wrong.push(`${path}: ${href}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('have pages of at most 249 lines, and a README of at most 200', () => {
    for (const { path, text } of DOCUMENTATION) {
      const most = path === 'README.md' ? 200 : 249
      expect([path, text.split('\n').length - 1 <= most]).toEqual([path, true])
    }
  })

  test('have an entry in the contents for every page', () => {
    const files = [...new Bun.Glob('*.md').scanSync(join(ROOT, 'src/web/manual'))].map((name) =>
      name.replace('.md', ''),
    )
    expect(files.toSorted()).toEqual(TOPICS.filter((topic) => !GENERATED.includes(topic)).toSorted())
    const linked = TOPICS.filter((topic) => README.includes(`(src/web/manual/${topic}.md)`))
    expect(TOPICS.filter((topic) => !linked.includes(topic) && !GENERATED.includes(topic))).toEqual([])
  })
})

/** README, manual and the pages that are made from tables. */
async function allPages() {
  const reference = Object.entries(await referencePages(commandTree()))
  return [...DOCUMENTATION, ...reference.map(([topic, text]) => ({ path: `src/web/manual/${topic}.md`, text }))]
}

function anchorsOf(path: string): string[] {
  const anchorOf = createAnchors()
  const text = readFileSync(join(ROOT, path), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
  return [...text.matchAll(/^#{2,} (.+)$/gm)].map(([, heading]) => anchorOf(heading!))
}

function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
}

/** Of a file of lines `export NAME='value'`. */
function valueIn(file: string, name: string): string {
  return new RegExp(`\\b${name}='(.*)'`).exec(readFileSync(file, 'utf8'))?.[1] ?? ''
}

/** Stands for the dependencies of commands that are only listed. */
// biome-ignore lint/suspicious/noExplicitAny: it has every type
const anything: any = new Proxy(() => {}, { get: () => anything })

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
