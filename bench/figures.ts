/** One measured figure, and its promise. */
export type Figure = {
  name: string
  measured: Value
  /** The reference measured in the same run. */
  reference?: Value & { what: string }
  /** The limit of the ratio or the bare value; absent where the row is informative only. */
  promise?: { ratioMax: number } | { ratioMin: number } | { max: number }
  /** The median of the rounds' ratios, where there is a reference. */
  ratio?: number
  /** Busy cores of the whole machine during the measurement, by any process. */
  coresBusy: number
}

export type Value = {
  value: number
  unit:
    | 'ms'
    | 's'
    | 'MB'
    | 'kB'
    | 'requests/s'
    | 'transfers/s'
    | 'messages/s'
    | 'tx/s'
    | 'events/s'
    | 'operations/s'
    | 'rows'
    | 'rows/s'
    | 'bytes'
    | '%'
    | 'gas'
    | 'blocks'
    | 'cores'
    | 'statements'
    | 'commits'
    | '%'
}

/** `undefined` where nothing was promised. */
export function isMet({ promise, ratio, measured }: Figure): boolean | undefined {
  if (!promise) return undefined
  if ('max' in promise) return measured.value <= promise.max
  if (ratio === undefined) throw new Error('a promise about a ratio needs a reference')
  return 'ratioMax' in promise ? ratio <= promise.ratioMax : ratio >= promise.ratioMin
}

/** A Markdown table, ready to paste. */
export function tableOf(figures: readonly Figure[], cores: number): string {
  const head = ['Figure', 'Measured', 'Reference', 'Ratio', 'Promise', 'Result', 'Cores busy']
  const rows = figures.map((figure) => [
    figure.name,
    textOf(figure.measured),
    figure.reference ? `${textOf(figure.reference)} ${figure.reference.what}` : '',
    figure.ratio === undefined ? '' : figure.ratio.toFixed(2),
    promiseOf(figure),
    resultOf(figure),
    `${figure.coresBusy.toFixed(1)} of ${cores}`,
  ])
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

function resultOf(figure: Figure): string {
  const met = isMet(figure)
  return met === undefined ? '' : met ? 'met' : '**missed**'
}

function promiseOf({ promise, measured }: Figure): string {
  if (!promise) return ''
  if ('max' in promise) return `<= ${textOf({ ...measured, value: promise.max })}`
  return 'ratioMax' in promise ? `ratio <= ${promise.ratioMax}` : `ratio >= ${promise.ratioMin}`
}

const textOf = ({ value, unit }: Value): string => `${value.toFixed(digitsOf(value, unit))} ${unit}`

const digitsOf = (value: number, unit: Value['unit']): number => {
  if (unit.endsWith('/s') || unit === 'gas' || unit === 'blocks' || unit === 'bytes' || unit === '%') return 0
  return value < 10 ? 2 : 1
}
