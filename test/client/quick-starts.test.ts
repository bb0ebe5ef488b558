import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { documentationOf } from '../support/documentation.ts'
import { freePort } from '../support/free-port.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { type RunningTryOut, startTryOut } from '../support/try-out.ts'
import { type Installed, installClient } from './installed.ts'

/** Runs the examples of quick-starts.md as they stand with the real frameworks, against a try-out. */

const PAGE = documentationOf('quick-starts')
let tryOut: RunningTryOut
let installed: Installed
let folder: string
beforeAll(async () => {
  installed = installClient('express', 'hono')
  folder = mkdtempSync(join(tmpdir(), 'postrider-quick-starts-'))
  tryOut = await startTryOut()
})
afterAll(async () => {
  installed?.remove()
  rmSync(folder, { recursive: true, force: true })
  await tryOut?.stop()
})

/** The example that the page saves under a name. */
function exampleOf(name: string): string {
  const [, code] = new RegExp(`<!-- runs: ${name} -->\\n\`\`\`\\w+\\n([^]*?)^\`\`\`$`, 'm').exec(PAGE) ?? []
  if (code === undefined) throw new Error(`the page has no ${name}`)
  return code
}

const environment = () => ({ ...(process.env as Record<string, string>), ...tryOut.variables })

async function read(path: string) {
  const { API, KEY } = tryOut.variables
  // biome-ignore lint/suspicious/noExplicitAny: JSON of the server
  return (await fetch(API + path, { headers: { authorization: `Bearer ${KEY}` } })).json() as Promise<any>
}

/** The newest message, which is from the shop. */
async function expectSent(to: string, tags: string[] = []) {
  const { data } = await read('/v1/messages?limit=1')
  expect(data[0]).toMatchObject({ from: 'Shop <shop@postrider.example>', subject: 'Your order', tags })
  expect(data[0].to).toContain(to)
}

test('Next.js, Express and Hono answer an order with the ID of the message that they sent', async () => {
  for (const name of ['route.ts', 'express.mjs', 'hono.ts'])
    writeFileSync(join(installed.folder, name), exampleOf(name))
  const port = String(await freePort())
  writeFileSync(
    join(installed.folder, 'orders.ts'),
    `import './express.mjs'
    import hono from './hono.ts'
    import { POST } from './route.ts'
    const order = (to) => ({
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email: to }),
    })
    const answers = [
      await fetch('http://127.0.0.1:${port}/orders', order('express@customer.example')),
      await hono.request('/orders', order('hono@customer.example')),
      await POST(new Request('http://shop/api/orders', order('next@customer.example'))),
    ]
    console.log(JSON.stringify(await Promise.all(answers.map(async (each) => [each.status, await each.json()]))))
    process.exit(0)`,
  )
  const { exitCode, output } = await run([process.execPath, 'orders.ts'], {
    cwd: installed.folder,
    env: { ...environment(), PORT: port },
  })
  expect([exitCode, output]).toEqual([0, expect.stringMatching(/^\[\[201/)])
  const ids = (JSON.parse(output) as [number, { message_id: string }][]).map(([, { message_id }]) => message_id)
  const recipients = await Promise.all(ids.map(async (id) => (await read(`/v1/messages/${id}`)).recipients[0].email))
  expect(recipients).toEqual(['express@customer.example', 'hono@customer.example', 'next@customer.example'])
})

describeWith(['django'], 'Django', () => {
  test('sends by the submission port', async () => {
    writeFileSync(join(folder, 'settings.py'), exampleOf('settings.py'))
    writeFileSync(join(folder, 'orders.py'), exampleOf('orders.py'))
    const send = 'import django; django.setup(); import orders; orders.thank("django@customer.example")'
    const ran = await run(['/usr/bin/python3', '-c', send], {
      cwd: folder,
      env: { ...environment(), DJANGO_SETTINGS_MODULE: 'settings' },
    })
    expect(ran).toEqual({ exitCode: 0, output: '' })
    await expectSent('django@customer.example', ['orders'])
  })
})

/** What Laravel makes of the variables that its .env may set, and its parts that send mail. The certificate of the try-out is
 *  its own. */
const LARAVEL = `<?php
error_reporting(E_ALL & ~E_DEPRECATED);
require 'Illuminate/Mail/autoload.php';
require 'Egulias/EmailValidator/autoload.php';
$app = new Illuminate\\Container\\Container();
$env = parse_ini_file('laravel.env', false, INI_SCANNER_RAW);
$app['config'] = fn() => [
  'mail.driver' => null,
  'mail.default' => $env['MAIL_MAILER'],
  'mail.from' => ['address' => $env['MAIL_FROM_ADDRESS'], 'name' => $env['MAIL_FROM_NAME']],
  'mail.reply_to' => null, 'mail.to' => null, 'mail.return_path' => null,
  'mail.mailers.smtp' => [
    'transport' => 'smtp', 'host' => $env['MAIL_HOST'], 'port' => $env['MAIL_PORT'],
    'encryption' => $env['MAIL_ENCRYPTION'], 'username' => $env['MAIL_USERNAME'], 'password' => $env['MAIL_PASSWORD'],
    'stream' => ['ssl' => ['verify_peer' => false, 'verify_peer_name' => false]],
  ],
];
$app['events'] = fn() => null;
$app['view'] = fn() => new class implements Illuminate\\Contracts\\View\\Factory {
  public function exists($view) {}
  public function file($path, $data = [], $mergeData = []) {}
  public function make($view, $data = [], $mergeData = []) {}
  public function share($key, $value = null) {}
  public function composer($views, $callback) {}
  public function creator($views, $callback) {}
  public function addNamespace($namespace, $hints) {}
  public function replaceNamespace($namespace, $hints) {}
};
$app['mail.manager'] = fn($app) => new Illuminate\\Mail\\MailManager($app);
Illuminate\\Support\\Facades\\Facade::setFacadeApplication($app);
$email = 'laravel@customer.example';
`

describeWith(['illuminate-mail'], 'Laravel', () => {
  test('sends by the submission port', async () => {
    const { SMTP, KEY } = tryOut.variables
    const [host = '', port = ''] = SMTP.split(':')
    const env = exampleOf('laravel.env')
      .replace('MAIL_HOST=mail.example.com', `MAIL_HOST=${host}`)
      .replace('MAIL_PORT=587', `MAIL_PORT=${port}`)
      .replace('svc_test_…', KEY)
    writeFileSync(join(folder, 'laravel.env'), env)
    writeFileSync(join(folder, 'orders.php'), LARAVEL + exampleOf('orders.php'))
    const ran = await run(['php', 'orders.php'], { cwd: folder, env: environment() })
    expect(ran).toEqual({ exitCode: 0, output: '' })
    await expectSent('laravel@customer.example')
  })
})

describeWith(['action_mailer'], 'Rails', () => {
  test('sends by the submission port', async () => {
    const program = [
      'require "action_mailer"',
      'config = Struct.new(:action_mailer).new(ActionMailer::Base)',
      exampleOf('production.rb'),
      exampleOf('order_mailer.rb'),
      'OrderMailer.thanks("rails@customer.example").deliver_now',
    ]
    writeFileSync(join(folder, 'orders.rb'), program.join('\n'))
    const ran = await run(['ruby', 'orders.rb'], { cwd: folder, env: environment() })
    expect(ran).toEqual({ exitCode: 0, output: '' })
    await expectSent('rails@customer.example', ['orders'])
  })
})

describeWith(['go', 'gofmt'], 'Go', () => {
  test('sends with the standard library, in the format of gofmt', async () => {
    writeFileSync(join(folder, 'main.go'), exampleOf('main.go'))
    const env = { ...environment(), GO111MODULE: 'off', GOTOOLCHAIN: 'local', GOCACHE: join(folder, '.cache') }
    expect(await run(['gofmt', '-l', 'main.go'], { cwd: folder, env })).toEqual({ exitCode: 0, output: '' })
    expect(await run(['go', 'run', 'main.go'], { cwd: folder, env })).toEqual({ exitCode: 0, output: '' })
    await expectSent('ann@customer.example')
  })
})
