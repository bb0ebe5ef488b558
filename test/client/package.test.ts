import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import pkg from '../../package.json' with { type: 'json' }
import { type HostileServer, refusal, startHostile } from './hostile.ts'
import { filesOf, type Installed, installClient, ROOT, RUNTIMES } from './installed.ts'

/** The package as users install it, in every installed runtime. */
let installed: Installed
let server: HostileServer
beforeAll(async () => {
  installed = installClient('nodemailer')
  server = await startHostile({ status: 503 }, { status: 202, body: '{"id":"msg_1"}' }, refusal(404, 'not_found'))
})
afterAll(async () => {
  installed.remove()
  await server.stop()
})

test('it has no dependencies, and its files import only each other', () => {
  const folder = join(installed.folder, 'node_modules/postrider')
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect([manifest.name, manifest.version]).toEqual(['postrider', pkg.version])
  expect(Object.keys(manifest).filter((key) => /dependencies|scripts|private/i.test(key))).toEqual([])
  const sources = filesOf(folder).filter((path) => /\.(js|d\.ts)$/.test(path))
  const imported = sources.flatMap((path) => {
    const text = readFileSync(join(folder, path), 'utf8')
    return [...text.matchAll(/(?:from |require\(|import\()['"]([^'"]+)/g)].map(([, specifier]) => specifier!)
  })
  expect(imported.filter((specifier) => !/^\.\/[\w-]+\.js$/.test(specifier))).toEqual([])
  expect(sources.length).toBeGreaterThan(20)

  const templates = filesOf(folder).filter((path) => path.startsWith('templates/'))
  expect(templates.toSorted()).toEqual([
    'templates/LICENSE-entities',
    'templates/LICENSE-ipaddr.js',
    'templates/LICENSE-liquidjs',
    'templates/host.mjs',
    'templates/postrider-templates.mjs',
  ])
  const program = readFileSync(join(folder, 'templates/postrider-templates.mjs'), 'utf8')
  const packages = [...program.matchAll(/^import .* from ['"]([^'"]+)['"]/gm)].map(([, specifier]) => specifier!)
  expect(packages.filter((specifier) => !specifier.startsWith('node:') && !isBuiltin(specifier))).toEqual([])

  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  expect(readme).toContain("from 'postrider'")
  const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!)
  expect(links.length).toBeGreaterThan(3)
  expect(links.filter((link) => !filesOf(folder).includes(link))).toEqual([])
})

test('it is imported by its package name within the repository', async () => {
  const names = ['postrider/client', 'postrider/client/nodemailer']
  const [client, transport] = await Promise.all(names.map((name) => import(name)))
  expect([typeof client.Postrider, typeof transport.postriderTransport]).toEqual(['function', 'function'])
})

const BODY = `
const client = new Postrider({ clock: { now: Date.now, random: () => 0, sleep: (ms, signal) =>
  ms < 1000 ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', () => resolve())) } })
const { id } = await client.messages.send({ from: 'a@b.example', to: 'c@d.example', subject: 's', text: 't' })
const { error } = await client.messages.get(id).safe()
const transport = postriderTransport()
console.log([id, error instanceof NotFoundError, error.code, transport.name].join())
`
const PROGRAMS = {
  'main.mjs': `import { NotFoundError, Postrider } from 'postrider'
import { postriderTransport } from 'postrider/nodemailer'
${BODY}`,
  'main.cjs': `const { NotFoundError, Postrider } = require('postrider')
const { postriderTransport } = require('postrider/nodemailer')
void (async () => {${BODY}})()`,
}

for (const [runtime, command] of RUNTIMES) {
  for (const [name, text] of Object.entries(PROGRAMS)) {
    test(`${name} runs on ${runtime}, with address and key from the environment`, async () => {
      await server.stop()
      server = await startHostile({ status: 503 }, { status: 202, body: '{"id":"msg_1"}' }, refusal(404, 'not_found'))
      writeFileSync(join(installed.folder, name), text)
      const env = {
        PATH: process.env.PATH!,
        HOME: installed.folder,
        POSTRIDER_URL: server.url,
        POSTRIDER_API_KEY: 'svc_test_x',
      }
      const child = Bun.spawn([...command, name], { cwd: installed.folder, env, stdout: 'pipe', stderr: 'pipe' })
      const [printed, errors] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      expect([errors, printed]).toEqual(['', 'msg_1,true,not_found,Postrider\n'])
      const keys = server.requests.map(({ method, headers }) => `${method} ${headers['idempotency-key']}`)
      expect(keys[0]).toMatch(/^POST [0-9a-f-]{36}$/)
      expect([keys[1], keys[2]]).toEqual([keys[0]!, 'GET undefined'])
    })
  }
}

describe('its types', () => {
  const check = (name: string, text: string) => {
    writeFileSync(join(installed.folder, name), text)
    const flags =
      '--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2022 --lib es2022,dom,dom.iterable --types'.split(
        ' ',
      )
    const run = Bun.spawnSync(
      [process.execPath, join(ROOT, 'node_modules/.bin/tsc'), '--ignoreConfig', ...flags, '', name],
      {
        cwd: installed.folder,
      },
    )
    return run.stdout.toString()
  }
  const GOOD = `
const client = new Postrider({ timeoutMs: undefined })
export async function run(event: WebhookEvent): Promise<string> {
  const sent = await client.messages.send({ from: 'a@b', to: ['c@d'], subject: 's', html: '<p>' }, { idempotencyKey: 'k' })
  const status: 'queued' | 'delivered' | string = sent.status
  for await (const { recipients } of client.messages.list({ status: 'bounced' })) recipients[0]?.bounce_code?.length
  const { data, error } = await client.domains.verify('dom_1').safe()
  if (error !== null) return error.code
  if (event.type === 'message.bounced') return event.data.bounce_type
  if (event.type === 'inbound') return event.headers['message-id'] ?? data.name
  const camel = new Postrider({ camelCase: true })
  const { createdAt } = await camel.messages.send({ from: 'a@b', to: 'c@d', subject: 's', text: 't', replyTo: 'e@f' })
  const { metadata, recipients } = await camel.messages.waitFor('msg_1')
  for await (const { sizeBytes } of camel.messages.list({ createdAfter: createdAt })) sizeBytes.toFixed()
  for await (const each of camel.events.stream()) if (each.type === 'message.bounced') each.data.bounceType.length
  return recipients[0]?.smtpResponse ?? String(metadata['order_id']) ?? status
}
`
  test('are understood by ES modules and by CommonJS', () => {
    const imports = `import { Postrider, type WebhookEvent } from 'postrider'\n`
    expect(check('good.mts', imports + GOOD)).toBe('')
    expect(check('good.cts', imports + GOOD)).toBe('')
  })

  test('refuse what the API refuses', () => {
    const faults = check(
      'bad.mts',
      `import { Postrider } from 'postrider'
const client = new Postrider()
client.messages.send({ from: 'a', to: 'b', subjekt: 'typo' })
client.messages.send({ to: 'b' })
client.messages.list({ status: 'sent' })
client.webhooks.create({ url: 'https://x', events: ['message.sent'] })
client.domains.get()
new Postrider({ camelCase: true }).messages.send({ from: 'a', to: 'b', subject: 's', reply_to: 'c' })
`,
    )
    expect([...faults.matchAll(/bad\.mts\((\d)/g)].map(([, line]) => Number(line))).toEqual([3, 4, 5, 6, 7, 8])
  })
})

test.skipIf(Bun.which('npm') === null)('npm installs it without a registry', () => {
  const folder = installed.folder
  const project = join(folder, 'project')
  Bun.spawnSync(['mkdir', project])
  writeFileSync(join(project, 'package.json'), '{"private":true}')
  const flags = ['--offline', '--no-audit', '--no-fund', '--no-update-notifier', `--cache=${folder}/cache`]
  const run = Bun.spawnSync(['npm', 'install', ...flags, installed.packed], { cwd: project })
  expect([run.exitCode, run.exitCode === 0 ? '' : run.stderr.toString()]).toEqual([0, ''])
  expect(filesOf(join(project, 'node_modules/postrider'))).toContain('esm/index.js')
  writeFileSync(join(project, 'main.mjs'), `import { Postrider } from 'postrider'\nconsole.log(typeof Postrider)\n`)
  writeFileSync(join(project, 'main.cjs'), `console.log(typeof require('postrider/nodemailer').postriderTransport)\n`)
  for (const name of ['main.mjs', 'main.cjs']) {
    expect(Bun.spawnSync(['node', name], { cwd: project }).stdout.toString()).toBe('function\n')
  }
  const help = Bun.spawnSync(['npx', '--offline', 'postrider-templates', '--help'], { cwd: project })
  expect(help.stdout.toString()).toStartWith('Usage: postrider-templates push ')
})
