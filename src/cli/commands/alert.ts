import type { Command } from 'commander'
import { recordTable } from '../columns.ts'
import { EXIT, usageFault } from '../failure.ts'
import { addOperation } from '../operation-command.ts'
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
    state: ({ state, severity }) => (state === 'firing' ? severity : state),
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
