import { requireConfig, withStore } from './cli-context.ts'
import { EXIT, type ExitCode, usageFault } from './failure.ts'
import { print, printJson, table } from './print.ts'

interface Options {
  config: string
  json?: true
}

/** Prints firing and ended alerts, and the channels. */
export async function listAlerts({ config: file, json }: Options): Promise<void> {
  await withStore(requireConfig(file), async ({ operator }) => {
    const { data, channels } = await operator.run('alerts_list', { organizationId: '' })
    if (json) return printJson({ data, channels })
    if (channels.length === 0) return print(NO_CHANNELS)
    const rows = data.map(({ state, severity, title, raised_at, resolved_at, message, advice }) => [
      state === 'firing' ? severity : state,
      title,
      raised_at ?? '',
      resolved_at ?? '',
      state === 'firing' ? `${message}. ${advice}` : message,
    ])
    print(table(['state', 'alert', 'raised', 'resolved', 'found, what to do'], rows) || 'no alerts')
    const listed = channels.map(({ name, type, min_severity, last_delivered_at, failures, last_error }) => [
      name,
      type,
      min_severity,
      last_delivered_at ?? 'never',
      last_error === null ? '' : `${failures} failures: ${last_error}`,
    ])
    print(`\n${table(['channel', 'type', 'from severity', 'last delivered', 'trouble'], listed)}`)
  })
}

/** Sends a test to every channel and prints the results → 1 if one failed. Throws CommandFailure without channels. */
export async function testAlerts({ config: file, json }: Options): Promise<ExitCode> {
  return withStore(requireConfig(file), async ({ operator }) => {
    const { data } = await operator.run('alerts_test', { organizationId: '' })
    if (data.length === 0) throw usageFault(NO_CHANNELS)
    if (json) printJson({ data })
    else {
      const rows = data.map(({ channel, type, error, duration_ms }) => [
        channel,
        type,
        error ?? 'ok',
        `${duration_ms} ms`,
      ])
      print(table(['channel', 'type', 'result', 'after'], rows))
    }
    return data.every(({ delivered }) => delivered) ? EXIT.done : EXIT.failed
  })
}

const NO_CHANNELS = 'no alert channels are configured: [[alerts.channels]]'
