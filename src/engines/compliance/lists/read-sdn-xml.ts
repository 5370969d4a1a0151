import { SaxesParser } from 'saxes'
import type { FileEntry } from './formats.ts'
import { ListProblem } from './list-problem.ts'

const currencyPattern = /^Digital Currency Address - (\S+)$/
const textMax = 1_000

/** The digital currency addresses of a list of Specially Designated Nationals in its XML form. */
export async function* readSdnXml(chunks: AsyncIterable<string>): AsyncIterable<FileEntry> {
  const entries: FileEntry[] = []
  const parser = parserTo(entries)
  for await (const chunk of chunks) {
    parser.write(chunk)
    yield* entries.splice(0)
  }
  parser.close()
}

function parserTo(entries: FileEntry[]): SaxesParser {
  const parser = new SaxesParser({ position: true })
  const path: string[] = []
  const read = { uid: '', idType: '', idNumber: '' }
  let text = ''
  parser.on('error', ({ message }) => {
    throw new ListProblem(`is not XML: ${message}`)
  })
  parser.on('opentag', ({ name }) => {
    if (path.length === 0 && name !== 'sdnList')
      throw new ListProblem(`the document is <${name.slice(0, 40)}>, not <sdnList>`, parser.line)
    path.push(name)
    text = ''
  })
  parser.on('text', (part) => {
    if (text.length < textMax) text += part
  })
  parser.on('closetag', () => {
    const place = path.join('/')
    path.pop()
    if (place === 'sdnList/sdnEntry/uid') read.uid = text.trim()
    if (place === 'sdnList/sdnEntry/idList/id/idType') read.idType = text.trim()
    if (place === 'sdnList/sdnEntry/idList/id/idNumber') read.idNumber = text.trim()
    if (place !== 'sdnList/sdnEntry/idList/id') return
    const code = currencyPattern.exec(read.idType)?.[1]
    if (code) entries.push({ code, text: read.idNumber, reference: read.uid, line: parser.line })
    Object.assign(read, { idType: '', idNumber: '' })
  })
  return parser
}
