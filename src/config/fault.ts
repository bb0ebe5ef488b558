/** One thing wrong with the configuration, told so that it can be mended without reading further. */
export interface ConfigFault {
  /** The file as it was named, or `environment`. */
  readonly file: string
  /** From 1; null where nothing stands that could be pointed at. */
  readonly line: number | null
  /** Dotted path, or the name of the variable; '' when the file as a whole is meant. */
  readonly key: string
  /** What was expected and what was found. */
  readonly message: string
}

/** Faults → one line each, as `config.toml:12: http.listen: expected …, found …`; '' for none. */
export function formatFaults(faults: readonly ConfigFault[]): string {
  return faults
    .map(({ file, line, key, message }) => `${file}${line === null ? '' : `:${line}`}: ${key && `${key}: `}${message}`)
    .join('\n')
}

/** Thrown where faulty values are a bug of the caller: makeConfig. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  constructor(readonly faults: readonly ConfigFault[]) {
    super(formatFaults(faults))
  }
}
