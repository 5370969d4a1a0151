import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { passwordLengthMax, passwordLengthMin } from '#identity/members/index'
import { UsageError } from './command.ts'

/** Asks for a new password, unseen and twice on a terminal; elsewhere it is the first line of the input. */
export async function readNewPassword(): Promise<string> {
  const isTerminal = process.stdin.isTTY === true
  const [password = '', again = password] = await readLines(
    isTerminal ? ['New password: ', 'Once more: '] : [''],
  )
  const { length } = password
  if (length < passwordLengthMin || length > passwordLengthMax)
    throw new UsageError(
      `a password has ${passwordLengthMin} to ${passwordLengthMax} characters, and this one has ${length}${isTerminal ? '' : ': write it to the input of the command'}`,
    )
  if (again !== password) throw new UsageError('the two passwords differ: run the command again')
  return password
}

async function readLines(questions: readonly string[]): Promise<string[]> {
  // The terminal shows what is written to the output of the reader, which is nothing.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({
    input: process.stdin,
    output: nowhere,
    terminal: process.stdin.isTTY === true,
  })
  const lines: string[] = []
  try {
    const input = reader[Symbol.asyncIterator]()
    for (const question of questions) {
      process.stderr.write(question)
      const { value, done } = await input.next()
      if (question) process.stderr.write('\n')
      if (done) break
      lines.push(value)
    }
  } finally {
    reader.close()
  }
  return lines
}
