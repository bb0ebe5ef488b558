/** One error in the configuration. */
export interface ConfigFault {
  /** The file as named by the user, or `environment`. */
  readonly file: string
  /** From 1; null if there is no line to point to. */
  readonly line: number | null
  /** Dotted path or name of the variable; '' for the file as a whole. */
  readonly key: string
  /** What was expected and what was found. */
  readonly message: string
}

/** Formats faults, one line each: `config.toml:12: http.listen: expected …, found …`; '' for none. */
export function formatFaults(faults: readonly ConfigFault[]): string {
  return faults
    .map(({ file, line, key, message }) => `${file}${line === null ? '' : `:${line}`}: ${key && `${key}: `}${message}`)
    .join('\n')
}

/** Thrown by makeConfig, where invalid values are a bug of the caller. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  constructor(readonly faults: readonly ConfigFault[]) {
    super(formatFaults(faults))
  }
}
