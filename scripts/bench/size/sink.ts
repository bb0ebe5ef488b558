import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The bench's mail server that takes everything, as a process of its own. */
export async function startSink() {
  const child = spawn(process.execPath, [join(import.meta.dir, '../sink.ts')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value as string) as { port: number; mails: number }
  const { port } = await next()
  return {
    port,
    /** Taken so far. */
    mails: async () => {
      child.stdin.write('\n')
      return (await next()).mails
    },
    end: () => child.stdin.end(),
  }
}
