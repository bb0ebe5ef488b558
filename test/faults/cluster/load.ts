import { DESTINATIONS, domainOf, type TestCluster } from './setup.ts'

/** Clients that send through both nodes, and what they were promised. */
export interface Load {
  /** Token → ID of the message, once a request with this key was answered with 202. */
  promised: Map<string, string>
  /** Status and error code → how often; 0 = no answer. */
  answers: Map<string, number>
  /** Stops after a 202 to every message that was begun. */
  stop(): Promise<void>
}

const RETRY_MS = 50

/** Clients that each send one message after another, the key repeated at the other node until a 202. `pauseMs`: between
 *  two messages of a client. `gullible`: they count a sent message as promised, like clients of a server that answers
 *  before it commits. */
export function startLoad(
  { nodes }: Pick<TestCluster, 'nodes'>,
  { run, clients, pauseMs, gullible = false }: { run: string; clients: number; pauseMs: number; gullible?: boolean },
): Load {
  const promised: Load['promised'] = new Map()
  const answers: Load['answers'] = new Map()
  let isOver = false
  let turn = 0

  const attempt = async (token: string, to: string): Promise<string | null> => {
    const node = nodes[turn++ % nodes.length]!
    const body = { from: 'us@example.com', to: `${token}@${to}`, subject: token, text: 'Hello' }
    try {
      const response = await node.api('POST', '/v1/send', body, { 'Idempotency-Key': token })
      const { id, error } = (await response.json()) as { id?: string; error?: { code: string } }
      count(`${response.status}${error === undefined ? '' : ` ${error.code}`}`)
      return response.status === 202 ? id! : null
    } catch {
      count('0')
      return null
    }
  }
  const count = (answer: string) => answers.set(answer, (answers.get(answer) ?? 0) + 1)
  const running = Array.from({ length: clients }, async (_, client) => {
    for (let n = 0; !isOver; n++) {
      const token = `${run}-${client}-${n}`
      if (gullible) promised.set(token, '')
      for (let id: string | null = null; id === null; await Bun.sleep(id === null ? RETRY_MS : pauseMs)) {
        id = await attempt(token, domainOf((client + n) % DESTINATIONS))
        if (id !== null) promised.set(token, id)
        if (gullible) break
      }
    }
  })
  return {
    promised,
    answers,
    stop: async () => {
      isOver = true
      await Promise.all(running)
    },
  }
}
