import type { Command } from 'commander'
import { type Columns, recordTable } from '../columns.ts'
import { addOperation } from '../operation-command.ts'
import { installation } from '../places.ts'
import type { Results } from '../results.ts'

/** `postrider canary …`. */
export function addCanaries(program: Command): void {
  const canary = program.command('canary').description('show whether mail of this server arrives, and try it')
  addOperation(canary, 'list', 'canary_list', {
    about: 'list the last canary messages to each mailbox',
    place: installation,
    text: ({ every_minutes, data }) => {
      if (every_minutes === 0) return 'canary messages are off: set canary.every_minutes in the config'
      const rows = data.flatMap(({ canaries }) => canaries.slice(0, SHOWN))
      return recordTable(rows, COLUMNS) || 'no canary messages yet'
    },
  })
  addOperation(canary, 'run', 'canary_run', {
    about: 'send a canary mail to every mailbox now',
    place: installation,
    text: ({ data }) => {
      if (data.length === 0) return 'nothing sent: too many canary messages are on their way'
      const isPending = data.some(({ result }) => result === 'pending')
      const later = '\nThe running server looks for them. Results: postrider canary list'
      return recordTable(data, COLUMNS) + (isPending ? later : '')
    },
  })
}

const SHOWN = 10
const COLUMNS: Columns<Results['canary_run']['data'][number]> = {
  mailbox: 'mailbox',
  sent: 'sent_at',
  result: 'result',
  after: ({ seconds }) => (seconds === null ? '' : `${seconds} s`),
  detail: ({ detail }) => detail ?? '',
}
