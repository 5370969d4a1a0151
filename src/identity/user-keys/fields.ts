import { ApiError, invalid } from '#lib/errors'
import type { SecretKind } from '../store/user-keys.ts'
import { joinAnswers, normalAnswer } from './answers.ts'
import { isPin, pinRule } from './pin.ts'
import type { FieldKind, SubmittedField } from './submission.ts'

const secretBytes = 32
const questionLengthMax = 200
const questionRule = `must be a text of 1 to ${questionLengthMax} characters`
const answerRule = 'must be a text that is not empty, of at most 512 bytes'

const kindOf = { pin: 'P', device: 'D', recovery: 'R' } as const

/** A copy of the secret that opens a wrap of this kind, which the caller wipes. Throws when it breaks the rules. */
export function secretIn(fields: readonly SubmittedField[], kind: SecretKind): Buffer {
  if (kind === 'answers') return answersIn(fields)
  const { bytes } = fields.find((field) => field.kind === kindOf[kind])!
  if (kind !== 'pin' && bytes.length !== secretBytes)
    throw new ApiError('submissionUnfit', `A secret of a device has ${secretBytes} bytes.`)
  return Buffer.from(bytes)
}

/** Refuses one secret in both places: the recovery code would be kept by the device, and open nothing that the device does not. */
export function requireTwoSecrets(fields: readonly SubmittedField[]): void {
  const [device, recovery] = [kindOf.device, kindOf.recovery].map((kind) => only(fields, kind)[0]!.bytes)
  if (device!.equals(recovery!))
    throw new ApiError('submissionUnfit', 'The recovery secret has to differ from that of the device.')
}

/** A copy of the PIN that the user chose. */
export function newPinIn(fields: readonly SubmittedField[]): Buffer {
  const { bytes } = fields.find(({ kind }) => kind === 'N')!
  if (!isPin(bytes)) throw invalid({ at: 'pin', reason: pinRule, kind: 'secretUnfit' })
  return Buffer.from(bytes)
}

function answersIn(fields: readonly SubmittedField[]): Buffer {
  const answers: Buffer[] = []
  try {
    for (const { bytes } of only(fields, 'A')) {
      const answer = normalAnswer(bytes)
      if (!answer)
        throw invalid({ at: `answers[${answers.length}]`, reason: answerRule, kind: 'secretUnfit' })
      answers.push(answer)
    }
    return joinAnswers(answers)
  } finally {
    for (const answer of answers) answer.fill(0)
  }
}

export const countOf = (fields: readonly SubmittedField[], kind: FieldKind) => only(fields, kind).length

const only = (fields: readonly SubmittedField[], wanted: FieldKind) =>
  fields.filter(({ kind }) => kind === wanted)

/** The questions, which are no secret: the page shows them to who forgot the PIN. */
export function questionsIn(fields: readonly SubmittedField[]): string[] {
  const questions = only(fields, 'Q').map(({ bytes }, index) => {
    const text = textOf(bytes)?.trim()
    if (!text || text.length > questionLengthMax)
      throw invalid({ at: `questions[${index}]`, reason: questionRule, kind: 'secretUnfit' })
    return text
  })
  requireUnlike(questions, only(fields, 'A'))
  return questions
}

/** Refuses a question that is asked twice, and an answer that is its own question: the page shows the questions. */
function requireUnlike(questions: readonly string[], answers: readonly SubmittedField[]): void {
  const asked: Buffer[] = []
  for (const [index, question] of questions.entries()) {
    // The second line is the hint that the user wrote.
    const text = Buffer.from(question.split('\n')[0]!)
    const normal = normalAnswer(text) ?? text
    if (asked.some((other) => other.equals(normal)))
      throw invalid({
        at: `questions[${index}]`,
        reason: 'is asked twice: choose another one',
        kind: 'secretUnfit',
      })
    asked.push(normal)
    const answer = normalAnswer(answers[index]!.bytes)
    const isQuestion = answer?.equals(normal)
    answer?.fill(0)
    if (isQuestion)
      throw invalid({ at: `answers[${index}]`, reason: 'is the question itself', kind: 'secretUnfit' })
  }
}

/** PostgreSQL stores no zero character. */
function textOf(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}
