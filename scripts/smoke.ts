/** Checks the built program alone: copied into an empty folder, with an empty environment and no packages, it must
 *  run. `bun scripts/smoke.ts [PROGRAM]`, dist/postrider by default. Exit code 1 when a check fails. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createTransport } from 'nodemailer'
import pkg from '../package.json' with { type: 'json' }
import { verifySignature } from '../src/events/webhooks/sign.ts'
import { runtimeSettings } from '../src/os/runtime-settings.ts'

const CHECK_LIMIT_MS = 120_000
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='

const built = process.argv[2] ?? join(import.meta.dir, '../dist/postrider')
if (!existsSync(built)) {
  console.error(`smoke: ${built} does not exist`)
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'postrider-smoke-'))
try {
  requireNoPackages(folder)
  const program = join(folder, 'postrider')
  copyFileSync(built, program)

  check('version prints the version', program, ['version'], (output) => output.includes(pkg.version))
  check('try --once sends a message and its event', program, ['try', '--once'])
  await checkRunning(
    'the program contains /docs, /openapi.json, the manual and the dashboard',
    program,
    documentsAreThere,
  )
  await checkRunning('listen posts the signed events of a mail', program, eventsArePosted)
  await checkRunning('the program contains the tables of character sets', program, charsetsAreRead)
  await checkRunning('the program contains the MJML library', program, mjmlIsCompiled)
  await checkServer('a server restarts itself with its runtime settings in the same process', program)
  checkWithoutTemporaryFolder('without a temporary folder, a command says what to set', program)
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./stray.ts"]\n')
  writeFileSync(join(folder, 'stray.ts'), 'process.exit(99)\n')
  writeFileSync(join(folder, '.env'), 'POSTRIDER_NO_SUCH_KEY=1\n')
  check('a stray bunfig.toml and .env are not read', program, ['version'])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function check(name: string, program: string, args: string[], isRight: (output: string) => boolean = () => true): void {
  const run = Bun.spawnSync([program, ...args], {
    cwd: folder,
    env: {},
    timeout: CHECK_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  const isGood = run.exitCode === 0 && isRight(run.stdout.toString())
  console.log(`${isGood ? 'ok' : 'NOT OK'}: ${name}`)
  if (isGood) return
  console.error(`exit code ${run.exitCode ?? run.signalCode}\n${run.stdout}${run.stderr}`)
  process.exitCode = 1
}

/** The embedded files: the API page, a document with every schema, the manual with its search, and the dashboard. */
async function documentsAreThere({ base_url: api }: Tried): Promise<void> {
  const page = await (await fetch(`${api}/docs`)).text()
  const document = await (await fetch(`${api}/openapi.json`)).text()
  const named = page.match(/\/(docs|manual)\/assets\/[\w.-]+/g) ?? []
  if (!named.some((path) => path.endsWith('.js'))) throw new Error(`/docs names no script: ${page}`)
  for (const path of named) {
    const { status } = await fetch(`${api}${path}`)
    if (status !== 200) throw new Error(`${path} of /docs is ${status}`)
  }
  if (!/^\{"openapi":"3\.1.*"Message":\{"type":"object"/s.test(document)) throw new Error(`openapi.json is ${document}`)
  const manual = await (await fetch(`${api}/manual/tls`)).text()
  if (!manual.includes('<h1>HTTPS and certificates</h1>')) throw new Error(`/manual/tls is ${manual}`)
  const [index] = /\/manual\/assets\/search-[\w.-]+\.json/.exec(manual) ?? []
  const search = await fetch(`${api}${index}`)
  if (search.status !== 200) throw new Error(`${index} of the manual is ${search.status}`)
  const dashboard = await (await fetch(`${api}/dashboard/`)).text()
  const [script] = /\/dashboard\/assets\/[\w.-]+\.js/.exec(dashboard) ?? []
  const { status } = await fetch(`${api}${script}`)
  if (status !== 200) throw new Error(`${script} of the dashboard is ${status}`)
}

/** Events of a mail go from one program to another, and are posted signed to a receiver. */
async function eventsArePosted({ base_url: api, live_key: key }: Tried, program: string): Promise<void> {
  const posted = Promise.withResolvers<void>()
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const verdict = verifySignature(
        request.headers.get('x-service-signature') ?? '',
        await request.text(),
        SECRET,
        Date.now(),
      )
      if (verdict === 'valid') posted.resolve()
      else posted.reject(new Error(`the signature is ${verdict}`))
      return new Response(null, { status: 204 })
    },
  })
  const to = ['--forward-to', `http://127.0.0.1:${receiver.port}`, '--secret', SECRET]
  const listening = Bun.spawn([program, 'listen', '--url', api, '--after', '', ...to], {
    cwd: folder,
    env: { POSTRIDER_API_KEY: key },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  try {
    const body = JSON.stringify({ from: 'a@postrider.example', to: 'ann@customer.example', subject: 'x', text: 'x' })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    await fetch(`${api}/v1/send`, { method: 'POST', headers, body })
    const ended = listening.exited.then(async () => {
      throw new Error(`listen ended: ${await new Response(listening.stderr).text()}`)
    })
    await Promise.race([posted.promise, ended])
    listening.kill('SIGINT')
    if ((await listening.exited) !== 130) throw new Error(`listen ended with ${listening.exitCode}`)
  } finally {
    listening.kill('SIGKILL')
    await receiver.stop(true)
  }
}

/** Inbound mail in character sets that need a table is decoded. */
async function charsetsAreRead({ base_url: api, live_key: key, smtp_inbound: address }: Tried): Promise<void> {
  const [host, port] = address.split(':')
  const mail = createTransport({ host, port: Number(port), tls: { rejectUnauthorized: false } })
  const headers = { authorization: `Bearer ${key}` }
  for (const [charset, base64, text] of [
    ['gb18030', 'xOO6ww==', '你好'],
    ['iso-2022-jp', 'GyRCRnxLXBsoQg==', '日本'],
    ['koi8-r', '8NLJ18XU', 'Привет'],
  ]) {
    const type = `Content-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: base64`
    const raw = `From: ann@customer.example\r\nSubject: x\r\n${type}\r\n\r\n${base64}\r\n`
    await mail.sendMail({ envelope: { from: 'ann@customer.example', to: ['hello@postrider.example'] }, raw })
    const { data } = await (await fetch(`${api}/v1/inbound-messages?limit=1`, { headers })).json()
    const { text_body: read } = await (await fetch(`${api}/v1/inbound-messages/${data[0].id}`, { headers })).json()
    if (read !== text) throw new Error(`text in ${charset} is read as ${read}`)
  }
}

/** A parsing thread compiles MJML, also with the parts of the library that only some documents use. */
async function mjmlIsCompiled({ base_url: api, live_key: key }: Tried): Promise<void> {
  const style = '<mj-style inline="inline">.a div { margin: 7px }</mj-style>'
  const name = '<mj-html-attribute name="data-x">1</mj-html-attribute>'
  const head = `${style}<mj-html-attributes><mj-selector path=".a div">${name}</mj-selector></mj-html-attributes>`
  const text = '<mj-text css-class="a">{{ name }}</mj-text>'
  const mjml = `<mjml><mj-head>${head}</mj-head><mj-body><mj-section><mj-column>${text}</mj-column></mj-section></mj-body></mjml>`
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ mjml, variables: { name: 'Ann' } })
  const answer = await fetch(`${api}/v1/templates/preview`, { method: 'POST', headers, body })
  const { html } = await answer.json()
  if (!/<div style="[^"]*margin: 7px;[^"]*" data-x="1">Ann<\/div>/.test(html))
    throw new Error(`${answer.status} ${html}`)
}

/** The output of a try-out. */
interface Tried {
  base_url: string
  smtp_inbound: string
  live_key: string
}

/** Runs checks against a running try-out. */
async function checkRunning(name: string, program: string, work: (tried: Tried, program: string) => Promise<void>) {
  const running = Bun.spawn([program, 'try', '--json', '--port', '0'], { cwd: folder, env: {}, stdout: 'pipe' })
  const limit = setTimeout(() => running.kill('SIGKILL'), CHECK_LIMIT_MS)
  try {
    await work(JSON.parse(await firstLine(running.stdout)), program)
    console.log(`ok: ${name}`)
  } catch (error) {
    console.log(`NOT OK: ${name}\n${error}`)
    process.exitCode = 1
  } finally {
    clearTimeout(limit)
    running.kill()
    await running.exited
  }
}

async function checkServer(name: string, program: string): Promise<void> {
  const config = join(folder, 'config.toml')
  writeFileSync(config, `hostname = "mail.a.example"\ndata_dir = "${folder}/data"\n[http]\nlisten = "127.0.0.1:0"\n`)
  const args = [program, 'serve', '--config', config]
  const running = Bun.spawn(args, { cwd: folder, env: {}, stdout: 'pipe', stderr: 'pipe' })
  const limit = setTimeout(() => running.kill('SIGKILL'), CHECK_LIMIT_MS)
  const isReady = (await firstLine(running.stdout)).includes('"ready"')
  const environment = isReady ? readFileSync(`/proc/${running.pid}/environ`, 'utf8') : ''
  const command = isReady ? readFileSync(`/proc/${running.pid}/cmdline`, 'utf8') : ''
  running.kill('SIGTERM')
  const isSet = Object.keys(runtimeSettings()).every((each) => environment.includes(`${each}=`))
  const isGood = (await running.exited) === 0 && isSet && command === `${args.join('\0')}\0`
  clearTimeout(limit)
  console.log(`${isGood ? 'ok' : 'NOT OK'}: ${name}`)
  if (isGood) return
  console.error(`${environment}\n${command}\n${await new Response(running.stderr).text()}`)
  process.exitCode = 1
}

/** Uses the config of checkServer. */
function checkWithoutTemporaryFolder(name: string, program: string): void {
  const env = { TMPDIR: join(folder, 'none') }
  const run = Bun.spawnSync([program, 'key', 'list', '--config', 'config.toml'], { cwd: folder, env })
  const isGood = run.exitCode === 1 && /^[^\n]*SQLite library[^\n]*Set TMPDIR[^\n]*\n$/.test(run.stderr.toString())
  console.log(`${isGood ? 'ok' : 'NOT OK'}: ${name}`)
  if (isGood) return
  console.error(`exit code ${run.exitCode}\n${run.stderr}`)
  process.exitCode = 1
}

async function firstLine(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let printed = ''
  for await (const part of output) {
    printed += decoder.decode(part, { stream: true })
    if (printed.includes('\n')) break
  }
  return printed.split('\n', 1)[0]!
}

function requireNoPackages(from: string): void {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'node_modules'))) throw new Error(`${at}/node_modules is in reach of ${from}`)
  }
}
