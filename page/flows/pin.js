import { reasonOf } from '../reasons.js'
import { waitForLock } from '../screens/ends.js'
import { askPin, back, choosePin, forgotButton } from '../screens/pin.js'
import {
  agree,
  askAnswers,
  askQuestions,
  introduceQuestions,
  questionsOf,
  reviewAnswers,
  storedQuestion,
} from '../screens/questions.js'
import { nameOf, showRequest } from '../screens/request.js'
import { encode, wipe } from '../submission.js'
import { requestOf, submit } from './submit.js'

export async function setPin(run) {
  const { securityQuestions, customLinks } = run.customizations
  const needsQuestions = run.state.user.securityQuestionStatus !== 'ENABLED'
  const { choice, count } = questionsOf(securityQuestions)
  const kept = Array.from({ length: needsQuestions ? count : 0 }, () => ({
    question: '',
    answer: '',
    hint: '',
  }))
  let problem
  for (;;) {
    const pin = await choosePin({ group: 'initPincode', again: 'confirmInitPincode', error: problem })
    problem = undefined
    let asked = needsQuestions
      ? await setQuestions({ choice, count, kept, customLinks, securityQuestions })
      : kept
    while (asked !== back) {
      const answers = kept.flatMap((entry) => [
        ['Q', encode(storedQuestion(entry))],
        ['A', encode(entry.answer)],
      ])
      const { state, error } = await submit(run, 'setPin', [['N', pin], ...answers])
      for (const [, bytes] of answers) wipe(bytes)
      if (state) {
        wipe(pin)
        for (const entry of kept) entry.answer = ''
        return state
      }
      problem = reasonOf(error)
      if (error.code !== 155706 || !needsQuestions) break
      asked = await agree({ items: securityQuestions?.securityConfirmItems, error: problem })
    }
    wipe(pin)
  }
}

/** The screens of the security questions; resolves with `back` before the first of them. */
async function setQuestions({ choice, count, kept, customLinks, securityQuestions }) {
  const screens = [
    () => introduceQuestions({ learnMoreUrl: customLinks?.learnMoreUrl, onBack: true }),
    () => askQuestions({ choice, count, kept }),
    () => reviewAnswers(kept),
    () => agree({ items: securityQuestions?.securityConfirmItems }),
  ]
  let at = 0
  while (at < screens.length) {
    const answer = await screens[at]()
    at += answer === back ? -1 : 1
    if (at < 0) return back
  }
  return kept
}

/** Asks for the PIN until `work` accepts it. A locked PIN waits. `before` is shown again when the user goes back. */
async function withPin(run, before, work) {
  let problem
  let until = run.state.user.pinStatus === 'LOCKED' ? timeOf(run.state.user.pinLockedUntil) : undefined
  await before?.()
  for (;;) {
    if (until) await waitForLock({ title: 'Your PIN is locked', until, beside: forgotButton() })
    const pin = await askPin({
      group: 'enterPincode',
      about: before && nameOf(requestOf(run)),
      error: problem,
      onBack: before !== undefined,
      canForget: true,
    })
    problem = until = undefined
    if (pin === back) {
      await before()
      continue
    }
    const outcome = await work(pin)
    wipe(pin)
    if (outcome.state) return outcome.state
    problem = outcome.error && reasonOf(outcome.error)
    if (outcome.error?.code === 155119) [problem, until] = [undefined, lockOf(outcome.error)]
  }
}

const timeOf = (text) => {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? Number.POSITIVE_INFINITY : ms
}

/** The end of a lock, which its message names; one without an end has none. */
const lockOf = ({ message }) => timeOf(/until (\d{4}-[\d-]+T[\d:.]+Z)/.exec(message)?.[1])

export const open = (run) =>
  withPin(
    run,
    () => showRequest({ ...requestOf(run), isLast: false }),
    (pin) => submit(run, 'open', [['P', pin]]),
  )

export const changePin = (run) =>
  withPin(run, undefined, async (pin) => {
    let problem
    for (;;) {
      const next = await choosePin({
        group: 'newPincode',
        again: 'confirmNewPincode',
        error: problem,
        onBack: true,
      })
      if (next === back) return {}
      const outcome = await submit(run, 'changePin', [
        ['P', pin],
        ['N', next],
      ])
      wipe(next)
      if (outcome.error?.code !== 155124) return outcome
      problem = reasonOf(outcome.error)
    }
  })

export async function restorePin(run) {
  const { questions } = run.state.user
  let problem
  for (;;) {
    const answers = (await askAnswers({ stored: questions, error: problem })).map((answer) => [
      'A',
      encode(answer),
    ])
    const { state, error } = await restoreWith(run, answers)
    for (const [, bytes] of answers) wipe(bytes)
    if (state) return state
    problem = error && reasonOf(error)
    if (error?.code !== 155120) continue
    problem = undefined
    await waitForLock({ title: 'Your security questions are locked', until: lockOf(error) })
  }
}

async function restoreWith(run, answers) {
  let problem
  for (;;) {
    const next = await choosePin({
      group: 'newPincode',
      again: 'confirmNewPincode',
      error: problem,
      onBack: true,
    })
    if (next === back) return {}
    const outcome = await submit(run, 'restorePin', [...answers, ['N', next]])
    wipe(next)
    if (![155124, 155706].includes(outcome.error?.code)) return outcome
    problem = reasonOf(outcome.error)
  }
}
