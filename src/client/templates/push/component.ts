import { fork } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installHint, placed } from './words.ts'

/** A React Email component of the user, which renders in a process of its own (host.mjs) with the React and React Email
 *  of its project. Its environment lacks the API key; otherwise the code has the rights of the user. */
export interface Component {
  /** PreviewProps as JSON; {} without. */
  sample: Record<string, unknown>
  /** The file exports `subject`. */
  hasSubject: boolean
  /** Props → the mail. Throws ComponentFault if the component does. */
  render(props: Record<string, unknown>): Promise<RenderedMail>
  close(): void
}

export interface RenderedMail {
  html: string
  text: string
  /** Result of the function `subject`; null if there is none. */
  subject: string | null
  /** The string `subject`, which is Liquid; null if there is none. */
  written: string | null
}

/** The component, or a value in its PreviewProps, is not usable. The message names the place. */
export class ComponentFault extends Error {
  override name = 'ComponentFault'
}

/** ms without an answer. The first one includes transpiling all imports. */
const SILENCE_MS = 30_000
const KEPT_OUTPUT = 2_000

/** Imports a file and returns its component. Throws ComponentFault: a file that cannot be imported, a missing package,
 *  no default export, no PreviewProps for its props, and PreviewProps that are not JSON. */
export async function openComponent(file: string): Promise<Component> {
  const host = startHost(file)
  try {
    const { loaded } = (await host.ask({ file })) as { loaded: Loaded }
    if (loaded.lacksProps) throw new ComponentFault(NO_PREVIEW_PROPS)
    const [fault] = loaded.faults
    if (fault !== undefined) {
      throw new ComponentFault(
        `PreviewProps.${fault.path} is ${fault.type}. Variables are JSON: strings, numbers, booleans, lists and objects.`,
      )
    }
    let asked = 0
    const render = async (props: Record<string, unknown>) =>
      (await host.ask({ id: ++asked, props })) as RenderedMail & { id: number }
    return { sample: loaded.sample, hasSubject: loaded.hasSubject, render, close: host.close }
  } catch (error) {
    host.close()
    throw error
  }
}

interface Loaded {
  /** The component takes props, and has no PreviewProps. */
  lacksProps: boolean
  sample: Record<string, unknown>
  faults: { path: string; type: string }[]
  hasSubject: boolean
}

interface Failed {
  message: string
  name: string
  at: string | null
  missing: string | null
}

const NO_PREVIEW_PROPS =
  'The component takes props, but has no PreviewProps, so their names are unknown. Add one with an example of each, or {} without variables.'

/** In the package, it is beside the bundled program. */
const HOST = fileURLToPath(new URL('./host.mjs', import.meta.url))

/** Starts the process. `ask` sends one request and waits for its answer; requests must not overlap. */
function startHost(file: string) {
  let waiting: PromiseWithResolvers<unknown> | null = null
  let output = ''
  const { POSTRIDER_API_KEY: _, ...env } = process.env // rendering needs no key
  const child = fork(HOST, [], {
    cwd: dirname(file),
    env: { ...env, NODE_ENV: 'production' },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-KEPT_OUTPUT)
  })
  child.on('message', (answer) => waiting?.resolve(answer))
  child.on('close', (code) => {
    const words = output.trim()
    waiting?.reject(new ComponentFault(`the process that renders it ended with code ${code}${words && `:\n${words}`}`))
  })
  return {
    ask: async (request: object): Promise<unknown> => {
      waiting = withResolvers()
      const timer = setTimeout(() => {
        waiting?.reject(new ComponentFault(`it did not render within ${SILENCE_MS / 1000} seconds`))
      }, SILENCE_MS)
      try {
        child.send(request)
        const answer = await waiting.promise
        const failed = (answer as { failed?: Failed }).failed
        if (failed !== undefined) throw faultOf(failed)
        return answer
      } finally {
        clearTimeout(timer)
        waiting = null
      }
    },
    close: () => void child.kill('SIGKILL'),
  }
}

/** Like Promise.withResolvers, which Node 20 does not have. */
function withResolvers(): PromiseWithResolvers<unknown> {
  let [resolve, reject]: [(value: unknown) => void, (reason: unknown) => void] = [() => {}, () => {}]
  const promise = new Promise<unknown>((...both) => {
    ;[resolve, reject] = both
  })
  return { promise, resolve, reject }
}

function faultOf({ message, name, at, missing }: Failed): Error {
  const hint = missing === null ? null : installHint(missing)
  const kind = /^(?:Error|ResolveMessage|BuildMessage)$/.test(name) ? '' : `${name}: `
  const text = `${placed(at)}${kind}${message}${hint === null ? '' : `. ${hint}`}`
  return new ComponentFault(text)
}
