// A codec in the engines that network servers have: a context of Node's without anything but the language, and QuickJS, which
// is ChirpStack's. Inputs and outputs cross as JSON.

import vm from "node:vm";
import { getQuickJS } from "quickjs-emscripten";

const quickjs = await getQuickJS();

const CALL = (name) => `JSON.stringify(${name}(JSON.parse(INPUT)))`;

function inNode(source) {
  const context = vm.createContext(Object.create(null));
  vm.runInContext(source, context);
  return {
    engine: "node",
    evaluate: (expression) => vm.runInContext(expression, context),
    call(name, input) {
      context.INPUT = JSON.stringify(input);
      return JSON.parse(vm.runInContext(CALL(name), context));
    },
  };
}

function inQuickJS(source) {
  const context = quickjs.newContext();
  const evaluate = (code) => context.unwrapResult(context.evalCode(code)).consume(context.dump);
  evaluate(`${source}\n;0`);
  return {
    engine: "quickjs",
    evaluate,
    call(name, input) {
      context.newString(JSON.stringify(input)).consume((text) => context.setProp(context.global, "INPUT", text));
      return JSON.parse(evaluate(CALL(name)));
    },
  };
}

export const engines = [inNode, inQuickJS];
