import { startWith } from '../cli/command.ts'

type Variable =
  | 'API'
  | 'KEY'
  | 'TEST_KEY'
  | 'SMTP'
  | 'INBOUND'
  | 'POSTRIDER_URL'
  | 'POSTRIDER_API_KEY'
  | 'WEBHOOK_SECRET'
  | 'ROUTE_SECRET'

/** A try-out that runs, as a reader of the manual sees it. */
export interface RunningTryOut {
  /** The variables of the line that it prints for the second terminal, and nothing else. */
  variables: Record<Variable, string>
  stop(): Promise<unknown>
}

/** Starts `postrider try` with these options and reads its line that begins with `export`. Throws if it ends before. */
export async function startTryOut(...options: string[]): Promise<RunningTryOut> {
  const running = await startWith({}, 'try', '--port', '0', ...options)
  for (let count = 1; ; count++) {
    const lines = await running.lines(count)
    const line = lines.find((each) => each.startsWith('export '))
    if (line !== undefined) {
      const pairs = line
        .slice('export '.length)
        .split(' ')
        .map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)])
      const stop = () => {
        running.kill('SIGTERM')
        return running.ended
      }
      return { variables: Object.fromEntries(pairs), stop }
    }
    if (lines.length < count) throw new Error(`the try-out ended: ${running.complaints()}`)
  }
}
