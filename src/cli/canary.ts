import { requireConfig, withStore } from './cli-context.ts'
import { print, printJson, table } from './print.ts'
import type { Results } from './results.ts'

interface Options {
  config: string
  json?: true
}

type Row = Results['canary_run']['data'][number]

/** Prints the last canary messages to each mailbox. */
export async function listCanaries({ config: file, json }: Options): Promise<void> {
  await withStore(requireConfig(file), async ({ operator }) => {
    const list = await operator.run('canary_list', { organizationId: '' })
    if (json) return printJson(list)
    if (list.every_minutes === 0) return print('canary messages are off: set canary.every_minutes in the config')
    const rows = list.data.flatMap(({ canaries }) => canaries.slice(0, SHOWN))
    print(rows.length === 0 ? 'no canary messages yet' : shown(rows))
  })
}

/** Sends a canary mail to every mailbox now. */
export async function runCanaries({ config: file, json }: Options): Promise<void> {
  await withStore(requireConfig(file), async ({ operator }) => {
    const { data } = await operator.run('canary_run', { organizationId: '' })
    if (json) return printJson({ data })
    if (data.length === 0) return print('nothing sent: too many canary messages are on their way')
    print(shown(data))
    if (data.some(({ result }) => result === 'pending')) {
      print('The running server looks for them. Results: postrider canary list')
    }
  })
}

const shown = (rows: Row[]) =>
  table(
    ['mailbox', 'sent', 'result', 'after', 'detail'],
    rows.map(({ mailbox, sent_at, result, seconds, detail }) => [
      mailbox,
      sent_at,
      result,
      seconds === null ? '' : `${seconds} s`,
      detail ?? '',
    ]),
  )

const SHOWN = 10
