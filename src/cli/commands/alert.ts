import { type Command, Option } from 'commander'
import { MOST_SILENT_HOURS } from '../../model/alert.ts'
import { recordTable } from '../columns.ts'
import { EXIT, usageFault } from '../failure.ts'
import { addOperation } from '../operation-command.ts'
import { whole } from '../options.ts'
import { installation } from '../places.ts'
import type { Results } from '../results.ts'

/** `postrider alert …`. */
export function addAlerts(program: Command, end: (code: number) => void): void {
  const alert = program.command('alert').description('show alerts, and test the channels that receive them')
  addOperation(alert, 'list', 'alerts_list', {
    about: 'list firing alerts, the last ones that ended, and the channels',
    place: installation,
    text: alertsText,
  })
  addOperation(alert, 'silence <id>', 'alerts_silence', {
    about: 'send no notices about a problem for a day, or another time',
    body: {
      hours: new Option('--hours <hours>', 'length of the silence, up to a week; 0 ends it')
        .argParser((text) => whole(text, 0, MOST_SILENT_HOURS, 'number of hours'))
        .default(24),
    },
    place: async ({ operands: [id = ''] }) => ({ ...(await installation()), params: { alert_id: id } }),
    text: ({ title, silenced_until }) =>
      silenced_until === null ? `not silenced: ${title}` : `silenced until ${silenced_until}: ${title}`,
  })
  addOperation(alert, 'test', 'alerts_test', {
    about: 'send a test to every channel; exits with 1 if one fails',
    place: installation,
    text: ({ data }) =>
      recordTable(data, {
        channel: 'channel',
        type: 'type',
        result: ({ error }) => error ?? 'ok',
        after: ({ duration_ms }) => `${duration_ms} ms`,
      }),
    exitCode: ({ data }) => {
      if (data.length === 0) throw usageFault(NO_CHANNELS)
      return data.every(({ delivered }) => delivered) ? EXIT.done : EXIT.failed
    },
    end,
  })
}

const NO_CHANNELS = 'no alert channels are configured: [[alerts.channels]]'

function alertsText({ data, channels }: Results['alerts_list']): string {
  if (channels.length === 0) return NO_CHANNELS
  const alerts = recordTable(data, {
    id: 'id',
    state: ({ state, severity, silenced_until }) => {
      if (state !== 'firing') return state
      return silenced_until === null ? severity : `${severity}, silenced`
    },
    alert: 'title',
    raised: ({ raised_at }) => raised_at ?? '',
    resolved: ({ resolved_at }) => resolved_at ?? '',
    'found, what to do': ({ state, message, advice }) => (state === 'firing' ? `${message}. ${advice}` : message),
  })
  const listed = recordTable(channels, {
    channel: 'name',
    type: 'type',
    'from severity': 'min_severity',
    'last delivered': ({ last_delivered_at }) => last_delivered_at ?? 'never',
    trouble: ({ failures, last_error }) => (last_error === null ? '' : `${failures} failures: ${last_error}`),
  })
  return `${alerts || 'no alerts'}\n\n${listed}`
}
