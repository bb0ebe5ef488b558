import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExampleRequest } from '../../src/web/examples/example.ts'
import { exampleIn, LANGUAGES, type Language } from '../../src/web/examples/languages.ts'
import { type Operation, type Reference, readReference } from '../../src/web/reference/ui/document.ts'
import { exampleOf } from '../../src/web/reference/ui/examples/request.ts'
import { createRecords, type Ids } from '../api/contract-records.ts'
import { type ContractServer, startContractServer } from '../api/contract-server.ts'
import { DOCUMENTATION } from '../support/documentation.ts'
import { readDocument } from '../support/documented.ts'
import { describeWith } from '../support/real-tools.ts'
import { type Exchange, type Recorder, startRecorder } from './recorder.ts'
import { RUNNERS, type Runner, TOOLS } from './runners.ts'

/** Runs the examples of every operation in every language, as a reader would copy them, against a real server. */

/** Ends the client's stream, which would reconnect for ever. */
const FOLLOWS_FOREVER = 'events_stream'

const REQUESTS = /^<!-- request: (\w+) -->\n```json\n([\s\S]*?)^```$/gm

/** Texts that a language could mistake for its own syntax. */
const HOSTILE = {
  quotes: `'"\`''""`,
  shell: '$(exit 1) $HOME `id` \\',
  ruby: '#{exit} #$0 #@a #',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: PHP
  php: '$x {$x} ${x} \\n \\',
  lines: 'one\ntwo\r\n\tthree\u0001',
  others: 'é ’ 😀 \u2028 % %s <!-- */ //',
  'a key': { $x: [], "it's": {}, 'a-b': [{ c: null }, [1, 2.5, -3e21], true, false] },
}

for (const language of LANGUAGES) {
  describeWith(TOOLS[language], `the examples in ${language}`, () => {
    let setup: ContractServer
    let recorder: Recorder
    let runner: Runner
    let reference: Reference
    let session: string
    let examples: Map<string, { operation: Operation; request: ExampleRequest }>
    let faultIn: ReturnType<typeof readDocument>['faultIn']

    /** Creates the records of every operation, then writes the examples with their IDs. */
    const prepare = async () => {
      const call = async (method: string, path: string, body?: unknown, key = setup.keys.live) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const response = await fetch(setup.origin + path, {
          method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
        return response.json()
      }
      const records = createRecords(setup, call)
      await records.all() // for lists
      for (const operation of reference.operations.filter(({ permission }) => permission !== null)) {
        const { id, path, body } = operation
        const ids: Ids = { ...(await records.of(path)), ...(await records.prepare(id)) }
        examples.set(id, { operation, request: exampleOf(operation, ids, records.withRealIds(body?.example)) })
      }
    }
    /** The requests of the manual, which writes them in the same languages. */
    const prepareManual = () => {
      const requests = DOCUMENTATION.flatMap(({ text }) => [...text.matchAll(REQUESTS)])
      requests.forEach(([, id, body = ''], at) => {
        const operation = reference.operations.find((each) => each.id === id)!
        examples.set(`manual_${at}`, { operation, request: exampleOf(operation, {}, JSON.parse(body)) })
      })
      expect(requests.length).toBeGreaterThan(1)
    }
    const textOf = (request: ExampleRequest) => exampleIn(language, request, { origin: recorder.origin, key: null })

    beforeAll(async () => {
      setup = await startContractServer()
      recorder = startRecorder(setup.origin)
      runner = RUNNERS[language]()
      const document = await (await fetch(`${setup.origin}/openapi.json`)).json()
      reference = readReference(document)
      faultIn = readDocument(document).faultIn
      session = (await setup.signIn()).cookie.split('=')[1]!
      examples = new Map()
      await prepare()
      prepareManual()
      const hostile = exampleOf(
        reference.operations.find(({ id }) => id === 'templates_preview')!,
        {},
        {
          text: '{{ quotes }}',
          variables: HOSTILE,
        },
      )
      await runner.add({
        ...Object.fromEntries([...examples].map(([id, { request }]) => [id, textOf(request)])),
        hostile_texts: textOf(hostile),
      })
    })
    afterAll(async () => {
      runner?.remove()
      await recorder?.stop()
      await setup?.close()
    })

    const envFor = (id: string) => ({
      // A test key resends only its own messages; the other operations change live records.
      POSTRIDER_API_KEY: id === 'messages_resend' ? setup.keys.test : setup.keys.live,
      POSTRIDER_SESSION: session,
    })

    test('send the request of each operation, are answered as documented, and print or save the response', async () => {
      const wrong: string[] = []
      expect(examples.size).toBeGreaterThan(100)
      for (const [id, { operation, request }] of examples) {
        if (language === 'typescript' && id === FOLLOWS_FOREVER) continue
        const { isDone, output } = await runner.run(id, envFor(id))
        const exchanges = recorder.take()
        const faults = [
          ...(isDone ? [] : [`failed: ${output}`]),
          ...faultsOf(language, operation, request, exchanges),
          ...(isDone ? notShown(request, exchanges, output, runner.folderOf(id)) : []),
        ]
        for (const { method, path, status, answer } of exchanges) {
          if (request.answer === 'events') continue
          const type = Object.keys(operation.responses[0]![1].content ?? {})[0]!
          const headers = new Headers({ 'content-type': type })
          const fault = faultIn(method, path, { status, headers, text: new TextDecoder().decode(answer) })
          if (fault !== null) faults.push(fault)
        }
        wrong.push(...faults.map((fault) => `${id}: ${fault}`))
      }
      expect(wrong).toEqual([])
    })

    const ofClient = language === 'typescript' ? test : () => {}
    ofClient('follow the event stream until they are stopped', async () => {
      const { method, path } = examples.get(FOLLOWS_FOREVER)!.request
      const stop = new AbortController()
      const opened = recorder.next('/v1/events/stream')
      const running = runner.run(FOLLOWS_FOREVER, envFor(FOLLOWS_FOREVER), stop.signal)
      expect(await opened).toMatchObject({ method, path: expect.stringContaining(path), status: 200 })
      stop.abort()
      await running
      recorder.take()
    })

    test('send texts unchanged that look like the language itself', async () => {
      const { isDone, output } = await runner.run('hostile_texts', envFor(''))
      const [exchange] = recorder.take()
      expect([isDone, output]).toEqual([true, expect.any(String)])
      expect(JSON.parse(exchange!.body).variables).toEqual(HOSTILE)
    })

    test('fail with the error of a refused request', async () => {
      const { isDone, output } = await runner.run('messages_list', { POSTRIDER_API_KEY: 'svc_test_wrong' })
      expect([isDone, output]).toEqual([false, expect.stringContaining('unauthorized')])
      recorder.take()
    })

    test('contain the key in place of the environment variable', () => {
      const { request } = examples.get('messages_send')!
      const text = exampleIn(language, request, { origin: 'https://mail.example.com', key: 'svc_test_abc' })
      expect(text).toContain('svc_test_abc')
      expect(text).not.toContain('POSTRIDER_API_KEY')
    })
  })
}

/** What differs between the request of an example and the one that arrived. */
function faultsOf(language: Language, operation: Operation, request: ExampleRequest, exchanges: Exchange[]): string[] {
  const [first] = exchanges
  if (first === undefined) return ['sent no request']
  const isAlias = language === 'typescript' && operation.id === 'messages_send_alias'
  const wanted = isAlias ? '/v1/messages/send' : request.path
  const sent = new URL(first.path, 'http://x')
  const expected = new URL(wanted, 'http://x')
  const same = decodeURIComponent(sent.pathname) === decodeURIComponent(expected.pathname)
  const faults: string[] = []
  if (first.method !== request.method || !same) faults.push(`sent ${first.method} ${first.path}, not ${wanted}`)
  if (!sameQuery(sent, expected)) faults.push(`sent the query ${sent.search}`)
  const isBodyRight =
    request.body === undefined ? first.body === '' : Bun.deepEquals(JSON.parse(first.body || 'null'), request.body)
  if (!isBodyRight) faults.push(`sent the body ${first.body}`)
  if (request.body !== undefined && first.contentType !== 'application/json') faults.push(`sent ${first.contentType}`)
  const failed = exchanges.find(({ status }) => status > 299)
  if (failed !== undefined) faults.push(`was answered ${failed.status}: ${new TextDecoder().decode(failed.answer)}`)
  return faults
}

const sameQuery = (a: URL, b: URL) => [...a.searchParams].sort().join('&') === [...b.searchParams].sort().join('&')

/** What a program should have printed or saved, but did not. */
function notShown({ answer, file }: ExampleRequest, [exchange]: Exchange[], output: string, folder: string): string[] {
  if (answer === 'bytes') {
    return Bun.deepEquals(new Uint8Array(readFileSync(join(folder, file))), exchange!.answer)
      ? []
      : ['saved other bytes']
  }
  const text = new TextDecoder().decode(exchange!.answer)
  if (answer === 'events') return text.split('\n').every((line) => output.includes(line)) ? [] : [`printed ${output}`]
  const [id] = /\b[a-z]{3}_[0-9a-z]{26}\b/.exec(text) ?? ['']
  // The loop of the client prints the entries of a list.
  const isEmpty = text.includes('"data":[]')
  return (output.trim() !== '' || isEmpty) && output.includes(id) ? [] : [`printed ${output}, without ${id}`]
}
