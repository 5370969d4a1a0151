import Type from 'typebox'
import { dateField } from '#api/fields'
import {
  type Evaluation,
  riskActions,
  riskCategories,
  riskScores,
  riskSources,
  riskTypes,
} from '#engines/compliance/index'

const optional = Type.Optional

const reasonSchema = Type.Object(
  {
    source: Type.Enum([...riskSources], { description: 'The kind of the source of the risk.' }),
    sourceValue: Type.String({ description: 'The source, such as the address.' }),
    riskScore: Type.Enum([...riskScores], { description: 'How high the risk is.' }),
    riskCategories: Type.Array(Type.Enum([...riskCategories], { description: 'A kind of risk.' }), {
      description: 'The kinds of the risk.',
    }),
    type: Type.Enum([...riskTypes], { description: 'How the address is related to the risk.' }),
    signalSource: Type.Union(
      [
        Type.Object({
          rowId: Type.String({ description: 'The number of the entry in its list, or its address.' }),
          pointer: Type.String({ description: 'The list, and the version that added the entry.' }),
        }),
        Type.Null(),
      ],
      { description: 'The entry of a list that matched; null when another rule applied.' },
    ),
  },
  { title: 'RiskReason', description: 'A reason of a decision.' },
)

export const decisionSchema = Type.Object(
  {
    ruleName: optional(Type.String({ description: 'The rule that decided; absent when none applied.' })),
    actions: Type.Array(Type.Enum([...riskActions], { description: 'An action.' }), {
      description: 'The actions of the rule.',
    }),
    reasons: optional(Type.Array(reasonSchema, { description: 'Every match; absent without one.' })),
    screeningDate: dateField('The time of the screening.'),
  },
  { title: 'ScreeningDecision', description: 'The decision, with its reasons.' },
)

export const showDecision = ({ ruleName, actions, reasons, screeningDate }: Evaluation) => ({
  ...(ruleName !== undefined && { ruleName }),
  actions,
  ...(reasons.length > 0 && { reasons }),
  screeningDate,
})
